// compress/bound/bound_table.hpp - the table of kernels of one instruction set.
#pragma once

#include "compress/bound/bound_block.hpp"
#include "compress/bound/bound_kernels.hpp"
#include "compress/bound/bound_scalar_block.hpp"
#include "compress/lanes/variable_rate.hpp"

namespace gradcoll::bound {
namespace {

/// Coder tells block_calls.hpp how `bound` encodes blocks.
template <class Block>
struct Coder {
    using Lanes = typename Block::Lanes;
    using Told = Tolerance<typename Lanes::Format::Wide>;
    using Rest = ScalarBlock<typename Lanes::Format>;
    static constexpr std::size_t block_elems = bound::block_elems;

    static Told told_of(const CodecParameters& parameters) { return Told::of(parameters.abs); }

    template <bool with_residual>
    static std::size_t encode(const std::byte* in, std::byte* residual, std::size_t elems,
                              std::byte* out, const Told& told) {
        if (elems < block_elems)
            return BlockEncoder<Rest, with_residual>(in, residual, elems, out).encode(told);
        return BlockEncoder<Block, with_residual>(in, residual, elems, out).encode(told);
    }
    template <class Step>
    static bool decode(Input& in, std::size_t elems, Step step) {
        return elems < block_elems ? decode_block<Rest>(in, elems, step)
                                   : decode_block<Block>(in, elems, step);
    }
};

template <class Block>
Kernels kernels_of() {
    return variable_rate_kernels<Coder<Block>>();
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
