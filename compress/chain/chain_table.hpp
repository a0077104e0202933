// compress/chain/chain_table.hpp - fills the table of kernels for one instruction set.
#pragma once

#include "compress/chain/chain_kernels.hpp"
#include "compress/chain/chain_stream.hpp"
#include "compress/lanes/streaming.hpp"

namespace gradcoll::chain {
namespace {

/// `Set` is the instruction set: Set::Nm<Shape, Format> and Set::Quant<Width, Format, block> are
/// its block coders of the two stages.
template <class Set, int keep, int bits, class Format>
Kernels kernels_of() {
    using S = Shape<keep>;
    using NmBlock = typename Set::template Nm<S, Format>;
    using QuantBlock = typename Set::template Quant<quant::Width<bits>, Format, S::block_kept>;
    using Coder = Stream<NmBlock, QuantBlock>;
    constexpr std::size_t piece_blocks = 8;  // encoded, too, these are whole cache lines
    return streaming_kernels<Coder, typename NmBlock::Lanes, typename Format::Bits,
                             typename Format::Wide, piece_blocks * block_elems,
                             piece_blocks * Coder::coded_bytes>();
}

template <class Set, int keep, int bits>
Kernels kernels_for_type(ElementType type) {
    if (type == ElementType::f16) return kernels_of<Set, keep, bits, Fp16>();
    if (type == ElementType::bf16) return kernels_of<Set, keep, bits, Bf16>();
    if (type == ElementType::f32) return kernels_of<Set, keep, bits, Fp32>();
    if (type == ElementType::f64) return kernels_of<Set, keep, bits, Fp64>();
    return {};
}

template <class Set>
Kernels kernels_for(int keep, int bits, ElementType type) {
    if (keep == 2 && bits == 8) return kernels_for_type<Set, 2, 8>(type);
    if (keep == 1 && bits == 8) return kernels_for_type<Set, 1, 8>(type);
    if (keep == 2 && bits == 4) return kernels_for_type<Set, 2, 4>(type);
    return {};
}

}  // namespace
}  // namespace gradcoll::chain
