// compress/bound/bound_kernels.cpp - the kernels of one instruction set. The build compiles this
// once for each (gradcoll_kernels).
#include <type_traits>

#include "compress/bound/bound_block.hpp"
#include "compress/bound/bound_scalar_block.hpp"
#include "compress/bound/bound_vector_block.hpp"
#include "compress/kernels.hpp"
#include "compress/lanes/variable_rate.hpp"
#include "reduce/float_types.hpp"

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

template <class Isa, class Format>
Kernels kernels_of() {
    using Lanes = typename Isa::template Lanes<Format>;
    return variable_rate_kernels<Coder<
        std::conditional_t<Isa::has_vectors, VectorBlock<Lanes, Isa>, ScalarBlock<Format>>>>();
}

template <class Isa>
Kernels kernels_for(ElementType type) {
    return for_float_type(type, [](auto format) { return kernels_of<Isa, decltype(format)>(); });
}

}  // namespace
}  // namespace gradcoll::bound

namespace gradcoll {

Kernels GRADCOLL_OF_SET(bound_kernels)(ElementType type) {
    return bound::kernels_for<GRADCOLL_ISA>(type);
}

}  // namespace gradcoll
