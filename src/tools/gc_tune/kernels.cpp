// gc_tune/kernels.cpp - how fast one core encodes, decodes and sums.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "compress/codec.hpp"
#include "measures.hpp"
#include "reduce/reducer.hpp"

namespace gc_tune {
namespace {

using namespace gradcoll;

/// What one rank works on: plain values, their encoding, and where results go.
struct Buffers {
    explicit Buffers(std::size_t elems) : plain(elems), sums(elems) {
        std::size_t most_bytes = 0;
        for (const CodecId codec : all_codecs())
            most_bytes = std::max(most_bytes, bound_bytes(codec, sizeof(float), elems));
        encoded.resize(most_bytes);
        for (std::size_t i = 0; i < elems; ++i)  // without order, as gradients are
            plain[i] = std::sin(static_cast<float>(i * 7919 % 8191)) * 3;
    }
    std::vector<float> plain, sums;
    std::vector<std::byte> encoded;
    std::size_t payload_bytes = 0;  ///< of `encoded`; 0: nothing is encoded yet
};

/// A thousandth of what the values reach.
constexpr double usual_tolerance = 3e-3;

/// GB/s of plain elements. Work that takes no time still has a speed.
double speed_of(double bytes, double us) {
    return bytes / 1e3 / std::max(us, 1e-3);
}

class KernelTimer {
  public:
    KernelTimer(const Options& options, const Group& group) : options_(options), group_(group) {}

    /// At these working sets of the whole group; the same on all ranks. `work(buffers, elems)`.
    template <class Work>
    Speed by_working_set(const std::vector<double>& sets, Work work) const {
        std::vector<Speed::Point> points;
        for (const double set : sets) {
            double us = 0;
            // What is read and what is written, of each rank.
            const double bytes = set / 2 / group_.size();
            const std::size_t elems = static_cast<std::size_t>(bytes) / 4096 * 1024;
            group_.run([&] {
                Buffers buffers(elems);
                us = median_us(group_.comm(), options_.seconds_a_point(),
                               [&] { work(buffers, elems); });
            });
            PMPI_Bcast(&us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);  // rank 0 is a member
            points.push_back({set, speed_of(static_cast<double>(elems) * sizeof(float), us)});
        }
        return Speed(std::move(points));
    }

  private:
    const Options& options_;
    const Group& group_;
};

void measure_exact(const KernelTimer& timer, const std::vector<double>& sets, const Reducer& sum,
                   CodecSpeed& speed) {
    speed.encode = timer.by_working_set(sets, [](Buffers& at, std::size_t elems) {
        std::copy_n(at.plain.data(), elems, at.sums.data());
    });
    speed.decode = speed.encode;
    speed.decode_sum = timer.by_working_set(sets, [&sum](Buffers& at, std::size_t elems) {
        sum(at.plain.data(), at.sums.data(), at.sums.data(), elems);
    });
}

void measure_codec(const KernelTimer& timer, const std::vector<double>& sets, const Codec& codec,
                   CodecSpeed& speed) {
    const auto encode = [&codec](Buffers& at, std::size_t elems) {
        codec.encode(at.plain.data(), elems, at.encoded.data());
    };
    /// Decodes what is an encoding.
    const auto decoding = [&codec](auto decode) {
        return [&codec, decode](Buffers& at, std::size_t elems) {
            if (at.payload_bytes == 0)
                at.payload_bytes = codec.encode(at.plain.data(), elems, at.encoded.data());
            decode(at, elems);
        };
    };
    speed.encode = timer.by_working_set(sets, encode);
    speed.decode = timer.by_working_set(sets, decoding([&codec](Buffers& at, std::size_t elems) {
                                            codec.decode(at.encoded.data(), at.payload_bytes, elems,
                                                         at.sums.data());
                                        }));
    speed.decode_sum =
        timer.by_working_set(sets, decoding([&codec](Buffers& at, std::size_t elems) {
                                 codec.decode_sum(at.encoded.data(), at.payload_bytes, elems,
                                                  at.plain.data(), at.sums.data());
                             }));
}

}  // namespace

Status measure_kernels(const Options& options, const Group& group, Tuning& tuning) {
    const KernelTimer timer(options, group);
    const std::vector<double> sets = working_sets(std::size_t{256} << 10U, options.most_bytes());
    const Reducer sum = reducer_for(ReduceOp::sum, ElementType::f32);
    measure_exact(timer, sets, sum, tuning.codecs[CodecId::exact]);
    // Codecs are less a matter of caches: two points tell.
    const std::vector<double> few{sets.front(), sets.back()};
    for (const CodecId id : all_codecs()) {
        if (!codec_supports(id, ElementType::f32)) continue;
        tuning.codecs_said.set(number_of(id));
        if (id == CodecId::exact) continue;
        Codec codec = GRADCOLL_VALUE(codec_for(id, ElementType::f32));
        if (waits_for_tolerance(id)) codec.parameters.abs = usual_tolerance;
        measure_codec(timer, few, codec, tuning.codecs[id]);
    }
    return {};
}

}  // namespace gc_tune
