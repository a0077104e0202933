// compress/exact/exact_stage.cpp - what the stage of plain elements says of itself.
#include "compress/stage.hpp"

namespace gradcoll {

using ExactKernels = Kernels(ElementType type);
/// Return the kernels for every type but opaque, whose size we do not know (exact_kernels.cpp).
/// Integers have no residual: encode_with_residual leaves it alone.
ExactKernels GRADCOLL_OF_SETS(exact_kernels);

namespace {

constexpr std::string_view exact_aliases[] = {"off", "none", "4:4"};
/// The rates are from docs/benchmarks.md, "Codec kernels": fp32, AVX-512, 64 MiB.
constexpr CodecMember exact_members[] = {
    {.number = 0, .name = "exact", .aliases = exact_aliases, .rates = {9.2, 9.1, 11.5}}};

constexpr CodecStage exact_stage{
    .members = exact_members,
    .description =
        [](const CodecMember&) {
            return std::string("sends values as they are (also: off, none, 4:4)");
        },
    .supports = [](const CodecMember&, ElementType) { return true; },
    .block_elems = 1,
    .bound_bytes = [](const CodecMember&, std::size_t elem_bytes,
                      std::size_t count) { return count * elem_bytes; },
    .kernels = kernels_by_set<GRADCOLL_OF_SETS(exact_kernels)>};

}  // namespace

const CodecStage& exact_codec_stage() {
    return exact_stage;
}

}  // namespace gradcoll
