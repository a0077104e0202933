// compress/quant/quant_table.hpp - fills the table of kernels for one instruction set.
#pragma once

#include "compress/lanes/streaming.hpp"
#include "compress/quant/quant_kernels.hpp"
#include "compress/quant/quant_stream.hpp"

namespace gradcoll::quant {
namespace {

template <class Block>
Kernels kernels_of() {
    using Format = typename Block::Lanes::Format;
    using Bits = typename Format::Bits;
    constexpr std::size_t piece = 8 * block_elems;  // encoded, too, these are whole cache lines
    return streaming_kernels<Stream<Block>, typename Block::Lanes, Bits, typename Format::Wide,
                             piece, encoded_bytes(Block::Width::bits, sizeof(Bits), piece)>();
}

template <template <class W, class Format> class Block, class W>
Kernels kernels_for_type(ElementType type) {
    if (!quantizes(W::bits, type)) return {};
    if (type == ElementType::f32) return kernels_of<Block<W, Fp32>>();
    if (type == ElementType::f64) return kernels_of<Block<W, Fp64>>();
    if constexpr (quantizes(W::bits, ElementType::f16)) {
        if (type == ElementType::f16) return kernels_of<Block<W, Fp16>>();
        return kernels_of<Block<W, Bf16>>();
    }
    return {};
}

/// `Block` is the instruction set's block coder.
template <template <class W, class Format> class Block>
Kernels kernels_for(int bits, ElementType type) {
    if (bits == 4) return kernels_for_type<Block, Width<4>>(type);
    if (bits == 8) return kernels_for_type<Block, Width<8>>(type);
    if (bits == 16) return kernels_for_type<Block, Width<16>>(type);
    return {};
}

}  // namespace
}  // namespace gradcoll::quant
