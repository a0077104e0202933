// compress/quant/quant_table.hpp - fills the table of kernels for one instruction set.
#pragma once

#include "compress/lanes/streaming.hpp"
#include "compress/quant/quant_by_type.hpp"
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

/// `Block` is the instruction set's block coder.
template <template <class W, class Format> class Block>
struct RoundedToNearest {
    template <class W, class Format>
    static Kernels make() {
        return kernels_of<Block<W, Format>>();
    }
};

}  // namespace
}  // namespace gradcoll::quant
