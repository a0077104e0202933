// compress/bound/bound_table.hpp - whole calls, blocks one after another, and the table of kernels
// of one instruction set.
#pragma once

#include "compress/bound/bound_block.hpp"
#include "compress/bound/bound_kernels.hpp"
#include "compress/bound/bound_scalar_block.hpp"

namespace gradcoll::bound {
namespace {

/// The kernels over whole blocks as `Block` codes them. The last one may have fewer elements.
template <class Block>
class Calls {
    using Lanes = typename Block::Lanes;
    using T = typename Lanes::Format;
    using Bits = typename T::Bits;
    using Wide = typename T::Wide;
    using Rest = ScalarBlock<T>;

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
    template <bool with_residual>
    static std::size_t encode_all(const CodecParameters& parameters, const void* in, void* residual,
                                  std::size_t count, std::byte* out) {
        const auto tolerance = Tolerance<Wide>::of(parameters.abs);
        std::byte* to = out;
        for (std::size_t first = 0; first < count; first += block_elems) {
            const std::size_t left = count - first;
            const auto* from = element_at<Bits>(in, first);
            auto* rest = with_residual ? element_at<Wide>(residual, first) : nullptr;
            if (left >= block_elems)
                to += BlockEncoder<Block, with_residual>(from, rest, block_elems, to)
                          .encode(tolerance);
            else
                to += BlockEncoder<Rest, with_residual>(from, rest, left, to).encode(tolerance);
        }
        return static_cast<std::size_t>(to - out);
    }

    /// Calls step(lanes, i, values) for the decoded elements from i on.
    template <class Step>
    static bool decode_all(Input in, std::size_t count, Step step) {
        for (std::size_t first = 0; first < count; first += block_elems) {
            const auto from_first = [step, first](auto lanes, std::size_t i, auto values) {
                step(lanes, first + i, values);
            };
            const std::size_t left = count - first;
            if (!(left >= block_elems ? decode_block<Block>(in, block_elems, from_first)
                                      : decode_block<Rest>(in, left, from_first)))
                return false;
        }
        return in.left == 0;
    }
};

template <class Block>
Kernels kernels_of() {
    using C = Calls<Block>;
    return {C::encode, C::encode_with_residual, C::decode, C::decode_sum};
}

/// `Block` is the instruction set's.
template <template <class Format> class Block>
Kernels kernels_for(ElementType type) {
    if (type == ElementType::f16) return kernels_of<Block<Fp16>>();
    if (type == ElementType::bf16) return kernels_of<Block<Bf16>>();
    if (type == ElementType::f32) return kernels_of<Block<Fp32>>();
    if (type == ElementType::f64) return kernels_of<Block<Fp64>>();
    return {};
}

}  // namespace
}  // namespace gradcoll::bound
