// compress/lanes/variable_rate.hpp - the kernels of a codec whose encodings say themselves how long
// they are: whole calls, blocks one after another.
#pragma once

#include <cstddef>

#include "compress/kernels.hpp"
#include "compress/lanes/elementwise.hpp"

namespace gradcoll {
namespace {

/// Input is bytes of a peer.
struct Input {
    const std::byte* at;
    std::size_t left;

    const std::byte* take(std::size_t bytes) {
        const std::byte* taken = at;
        at += bytes;
        left -= bytes;
        return taken;
    }
};

/// VariableRate makes kernels of a `Coder`, which has the Lanes of a block and its number of
/// elements, block_elems, what it is Told, and static functions. The last block may have fewer
/// elements.
///   told_of(parameters)
///   encode<with_residual>(in, residual, elems, out, told)    returns how many bytes it wrote
///   decode(input, elems, step)    takes a block, calls step(lanes, i, values); false: no encoding
template <class Coder>
class VariableRate {
    using Bits = typename Coder::Lanes::Format::Bits;
    using Wide = typename Coder::Lanes::Format::Wide;

  public:
    static std::size_t encode(const CodecParameters& parameters, const void* in, std::size_t count,
                              std::byte* out) {
        return encode_all<false>(parameters, in, nullptr, count, out);
    }
    static std::size_t encode_with_residual(const CodecParameters& parameters, const void* in,
                                            void* residual, std::size_t count, std::byte* out) {
        return encode_all<true>(parameters, in, residual, count, out);
    }

    static bool decode(const std::byte* in, std::size_t in_bytes, std::size_t count, void* out) {
        return decode_all({in, in_bytes}, count, [out](auto lanes, std::size_t i, auto values) {
            decltype(lanes)::store(element_at<Bits>(out, i), values);
        });
    }
    static bool decode_sum(const std::byte* in, std::size_t in_bytes, std::size_t count,
                           const void* base, void* out) {
        return decode_all(
            {in, in_bytes}, count, [base, out](auto lanes, std::size_t i, auto values) {
                using L = decltype(lanes);
                const auto sum = sum_of<L>(L::load(element_at<Bits>(base, i)), values);
                L::store(element_at<Bits>(out, i), sum);
            });
    }

  private:
    static constexpr std::size_t elems_of_block(std::size_t left) {
        return left < Coder::block_elems ? left : Coder::block_elems;
    }

    template <bool with_residual>
    static std::size_t encode_all(const CodecParameters& parameters, const void* in, void* residual,
                                  std::size_t count, std::byte* out) {
        const auto told = Coder::told_of(parameters);
        std::byte* to = out;
        for (std::size_t first = 0; first < count; first += Coder::block_elems) {
            auto* rest = with_residual ? element_at<Wide>(residual, first) : nullptr;
            to += Coder::template encode<with_residual>(element_at<Bits>(in, first), rest,
                                                        elems_of_block(count - first), to, told);
        }
        return static_cast<std::size_t>(to - out);
    }

    /// Calls step(lanes, i, values) for the decoded elements from i on.
    template <class Step>
    static bool decode_all(Input in, std::size_t count, Step step) {
        for (std::size_t first = 0; first < count; first += Coder::block_elems) {
            const auto from_first = [step, first](auto lanes, std::size_t i, auto values) {
                step(lanes, first + i, values);
            };
            if (!Coder::decode(in, elems_of_block(count - first), from_first)) return false;
        }
        return in.left == 0;
    }
};

template <class Coder>
Kernels variable_rate_kernels() {
    using Calls = VariableRate<Coder>;
    return {Calls::encode, Calls::encode_with_residual, Calls::decode, Calls::decode_sum};
}

}  // namespace
}  // namespace gradcoll
