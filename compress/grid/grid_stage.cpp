// compress/grid/grid_stage.cpp - what the codec says of itself.
#include <string>

#include "compress/grid/grid_layout.hpp"
#include "compress/stage.hpp"

namespace gradcoll {

using GridKernels = Kernels(ElementType type);
/// Return no kernels if the type is not int64 (grid_kernels.cpp). Words have no residual:
/// encode_with_residual leaves it alone.
GridKernels GRADCOLL_OF_SETS(grid_codec_kernels);

}  // namespace gradcoll

namespace gradcoll::grid {
namespace {

/// The rates are those in memory (README.md); the part of the bound is that of sums of normal
/// values.
constexpr CodecMember members[] = {
    {.number = 16, .name = "grid", .rates = {4.3, 5.6, 5.1, 0.51}, .is_internal = true}};

constexpr CodecStage stage{
    .members = members,
    .description =
        [](const CodecMember&) {
            return std::string("packs whole numbers in as many bits as the largest of 16 needs");
        },
    .supports = [](const CodecMember&, ElementType type) { return type == ElementType::i64; },
    .block_elems = block_elems,
    .has_fixed_rate = false,
    .bound_bytes = [](const CodecMember&, std::size_t,
                      std::size_t count) { return bound_bytes(count); },
    .kernels = kernels_by_set<GRADCOLL_OF_SETS(grid_codec_kernels)>};

}  // namespace
}  // namespace gradcoll::grid

namespace gradcoll {

const CodecStage& grid_codec_stage() {
    return grid::stage;
}

}  // namespace gradcoll
