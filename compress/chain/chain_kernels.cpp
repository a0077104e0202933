// compress/chain/chain_kernels.cpp - the kernels of one instruction set. The build compiles this
// once for each (gradcoll_kernels).
#include "compress/chain/chain_stream.hpp"
#include "compress/kernels.hpp"
#include "compress/lanes/streaming.hpp"
#include "compress/nm/nm_window.hpp"
#include "compress/quant/quant_vector_block.hpp"
#include "reduce/float_types.hpp"

namespace gradcoll::chain {
namespace {

template <class Isa, int keep, int bits, class Format>
Kernels kernels_of() {
    using S = Shape<keep>;
    using NmBlock = nm::BlockOf<Isa, S, Format>;
    using QuantBlock = quant::BlockOf<Isa, quant::Width<bits>, Format, S::block_kept>;
    using Coder = Stream<NmBlock, QuantBlock>;
    constexpr std::size_t piece_blocks = 8;  // encoded, too, these are whole cache lines
    return streaming_kernels<Coder, typename NmBlock::Lanes, typename Format::Bits,
                             typename Format::Wide, piece_blocks * block_elems,
                             piece_blocks * Coder::coded_bytes>();
}

template <class Isa, int keep, int bits>
Kernels kernels_for_type(ElementType type) {
    return for_float_type(
        type, [](auto format) { return kernels_of<Isa, keep, bits, decltype(format)>(); });
}

template <class Isa>
Kernels kernels_for(int keep, int bits, ElementType type) {
    if (keep == 2 && bits == 8) return kernels_for_type<Isa, 2, 8>(type);
    if (keep == 1 && bits == 8) return kernels_for_type<Isa, 1, 8>(type);
    if (keep == 2 && bits == 4) return kernels_for_type<Isa, 2, 4>(type);
    return {};
}

}  // namespace
}  // namespace gradcoll::chain

namespace gradcoll {

Kernels GRADCOLL_OF_SET(chain_kernels)(int keep, int bits, ElementType type) {
    return chain::kernels_for<GRADCOLL_ISA>(keep, bits, type);
}

}  // namespace gradcoll
