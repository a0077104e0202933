// tune/kernels.cpp - measures how fast one core encodes, decodes and sums.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "compress/codec.hpp"
#include "measures.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll::tune {
namespace {

constexpr float most_value = 3;

/// Buffers are what one rank works on: plain values, their encoding, and the results.
struct Buffers {
    explicit Buffers(std::size_t elems) : plain(elems), sums(elems) {
        std::size_t most_bytes = 0;
        for (const NamedForm& form : all_codec_forms())
            most_bytes =
                std::max(most_bytes, bound_bytes(codec_of(form).value(), sizeof(float), elems));
        encoded.resize(most_bytes);
        for (std::size_t i = 0; i < elems; ++i)  // without order, as in gradients
            plain[i] = std::sin(static_cast<float>(i * 7919 % 8191)) * most_value;
    }
    std::vector<float> plain, sums;
    std::vector<std::byte> encoded;
    std::size_t payload_bytes = 0;  ///< bytes used in `encoded`; 0: nothing is encoded yet
};

/// The usual tolerance is a thousandth of the range of the values.
constexpr double usual_tolerance = 3e-3;

/// Returns the smallest tolerance, up to a factor of 2, with which hardly any value is left without
/// a code: that is how a quantizer with a tolerance is used.
double least_short_tolerance(Codec codec) {
    Buffers at(std::size_t{1} << 14U);
    const auto bytes_with = [&](double abs) {
        codec.parameters.abs = abs;
        return codec.encode(at.plain.data(), at.plain.size(), at.encoded.data());
    };
    double abs = most_value;
    const auto most_bytes = static_cast<std::size_t>(1.05 * static_cast<double>(bytes_with(abs)));
    while (abs > 1e-6 && bytes_with(abs / 2) <= most_bytes) abs /= 2;
    return abs;
}

/// Returns the codec with the tolerance of usual calls.
Codec told(Codec codec) {
    if (waits_for_tolerance(codec.id))
        codec.parameters.abs = usual_tolerance;
    else if (codec.parameters.abs > 0)
        codec.parameters.abs = least_short_tolerance(codec);
    return codec;
}

class KernelTimer {
  public:
    KernelTimer(const Options& options, const Group& group) : options_(options), group_(group) {}

    /// Measures `work(buffers, elems)` at these working sets of the whole group. The result is the
    /// same on all ranks.
    template <class Work>
    Speed by_working_set(const std::vector<double>& sets, Work work) const {
        std::vector<Speed::Point> points;
        for (const double set : sets) {
            double us = 0;
            // Each rank reads half of its bytes and writes half.
            const double bytes = set / 2 / group_.size();
            const std::size_t elems = static_cast<std::size_t>(bytes) / 4096 * 1024;
            group_.run([&] {
                Buffers buffers(elems);
                us = median_us(group_.comm(), options_.seconds_a_point(),
                               [&] { work(buffers, elems); });
            });
            PMPI_Bcast(&us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);  // rank 0 is a member
            points.push_back({set, gbytes_per_s(static_cast<double>(elems) * sizeof(float), us)});
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
    /// Returns work that decodes; the first call encodes.
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
    // Codecs depend less on caches, so two points are enough.
    const std::vector<double> few{sets.front(), sets.back()};
    for (std::size_t form = 0; form < all_codec_forms().size(); ++form) {
        const CodecId id = GRADCOLL_VALUE(codec_of(all_codec_forms()[form]));
        if (!codec_supports(id, ElementType::f32)) continue;
        tuning.codecs_said[form] = true;
        if (id == CodecId::exact) continue;
        const Codec codec = told(GRADCOLL_VALUE(codec_for(id, ElementType::f32)));
        measure_codec(timer, few, codec, tuning.codecs.at_form(form));
    }
    return {};
}

}  // namespace gradcoll::tune
