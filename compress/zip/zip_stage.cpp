// compress/zip/zip_stage.cpp - what the codec says of itself.
#include <string>

#include "compress/stage.hpp"
#include "compress/zip/zip_layout.hpp"

namespace gradcoll {

using ZipKernels = Kernels(ElementType type);
/// Return no kernels if the type is no float (zip_kernels.cpp).
ZipKernels GRADCOLL_OF_SETS(zip_kernels);

}  // namespace gradcoll

namespace gradcoll::zip {
namespace {

/// The rates are those of fp32 in memory, and the part of the bound is that of normal values
/// (README.md).
constexpr CodecMember members[] = {
    {.number = 17, .name = "zip", .rates = {4.5, 4.5, 4.5, 0.85}, .is_internal = true}};

constexpr CodecStage stage{
    .members = members,
    .description =
        [](const CodecMember&) {
            return std::string(
                "sends values as they are, in fewer bytes: nothing of exponents that is alike");
        },
    .supports = [](const CodecMember&, ElementType type) { return is_floating(type); },
    .block_elems = block_elems,
    .has_fixed_rate = false,
    .bound_bytes = [](const CodecMember&, std::size_t elem_bytes,
                      std::size_t count) { return bound_bytes(elem_bytes, count); },
    .kernels = kernels_by_set<GRADCOLL_OF_SETS(zip_kernels)>};

}  // namespace
}  // namespace gradcoll::zip

namespace gradcoll {

const CodecStage& zip_codec_stage() {
    return zip::stage;
}

}  // namespace gradcoll
