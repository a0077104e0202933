// compress/width/width_stage.cpp - what the codec says of itself.
#include <string>

#include "compress/quant/escape_layout.hpp"
#include "compress/stage.hpp"

namespace gradcoll {

using WidthKernels = Kernels(ElementType type);
/// Return no kernels if the type is no float (width_kernels.cpp).
WidthKernels GRADCOLL_OF_SETS(width_kernels);

}  // namespace gradcoll

namespace gradcoll::width {
namespace {

/// Rates: those of int8/abs=2e-2, times what this took of them in turns with it (README.md); the
/// part of the bound is that of normal values with abs=1e-2.
constexpr CodecMember members[] = {
    {.number = 15,
     .name = "int",
     .rates = {6.0, 13.2, 13.9, 0.27},
     .takes = {.abs = true},
     .needs_tolerance = true},
};

constexpr CodecStage stage{
    .members = members,
    .description =
        [](const CodecMember&) {
            return std::string(
                "rounds to 4, 8 or 16 bits a value, whichever is shortest for a block; values that "
                "would come back too far off go as they are");
        },
    .supports = [](const CodecMember&, ElementType type) { return is_floating(type); },
    .block_elems = quant::escape_block_elems,
    .has_fixed_rate = false,
    .bound_bytes = [](const CodecMember&, std::size_t elem_bytes,
                      std::size_t count) { return quant::escape_bound_bytes(elem_bytes, count); },
    .kernels = kernels_by_set<GRADCOLL_OF_SETS(width_kernels)>};

}  // namespace
}  // namespace gradcoll::width

namespace gradcoll {

const CodecStage& width_codec_stage() {
    return width::stage;
}

}  // namespace gradcoll
