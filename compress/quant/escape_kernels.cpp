// compress/quant/escape_kernels.cpp - the kernels of one instruction set, of quantization with a
// tolerance. The build compiles this once for each (gradcoll_kernels).
#include <type_traits>

#include "compress/kernels.hpp"
#include "compress/lanes/variable_rate.hpp"
#include "compress/quant/escape_block.hpp"
#include "compress/quant/escape_scalar_block.hpp"
#include "compress/quant/escape_vector_block.hpp"
#include "compress/quant/quant_by_type.hpp"
#include "compress/quant/quant_vector_block.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll::quant {
namespace {

/// EscapeCoder tells lanes/variable_rate.hpp how blocks are encoded.
template <class Block, class Rest>
struct EscapeCoder {
    using Lanes = typename Block::Lanes;
    using Told = Loss<typename Lanes::Format::Wide>;
    static constexpr std::size_t block_elems = escape_block_elems;

    static Told told_of(const CodecParameters& parameters) {
        return Told::of(parameters.abs, parameters.rel);
    }

    template <bool with_residual>
    static std::size_t encode(const std::byte* in, std::byte* residual, std::size_t elems,
                              std::byte* out, const Told& told) {
        EscapeInput<typename Lanes::Format::Wide> input(in, residual, elems);
        if (elems < block_elems) return EscapeEncoder<Rest, with_residual>(input, told).encode(out);
        return EscapeEncoder<Block, with_residual>(input, told).encode(out);
    }
    template <class Step>
    static bool decode(Input& in, std::size_t elems, Step step) {
        return elems < block_elems ? decode_escape_block<Rest>(in, elems, step)
                                   : decode_escape_block<Block>(in, elems, step);
    }
};

template <class Isa>
struct WithEscapes {
    template <class W, class Format>
    static Kernels make() {
        using Lanes = typename Isa::template Lanes<Format>;
        using Rest = EscapeScalarBlock<W, Format>;
        using Block = std::conditional_t<Isa::has_vectors,
                                         EscapeVectorBlock<W, Lanes, Instructions<Isa>>, Rest>;
        return variable_rate_kernels<EscapeCoder<Block, Rest>>();
    }
};

}  // namespace
}  // namespace gradcoll::quant

namespace gradcoll {

Kernels GRADCOLL_OF_SET(escape_kernels)(int bits, ElementType type) {
    return quant::kernels_by_type<quant::WithEscapes<GRADCOLL_ISA>>(bits, type);
}

}  // namespace gradcoll
