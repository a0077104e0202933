// compress/cast/bf16_stage.cpp - what the stage of fp32 sent as bf16 says of itself.
#include "compress/stage.hpp"

namespace gradcoll {

using Bf16Kernels = Kernels(ElementType type);
/// Return no kernels for types other than fp32 (bf16_kernels.cpp).
Bf16Kernels GRADCOLL_OF_SETS(bf16_kernels);

namespace {

/// The rates are from docs/benchmarks.md, "Codec kernels": AVX-512, 64 MiB.
constexpr CodecMember bf16_members[] = {{.number = 7, .name = "bf16", .rates = {11.8, 13.8, 14.5}}};

constexpr CodecStage bf16_stage{
    .members = bf16_members,
    .description =
        [](const CodecMember&) { return std::string("rounds to bfloat16, to nearest even"); },
    .supports = [](const CodecMember&, ElementType type) { return type == ElementType::f32; },
    .block_elems = 512,
    .bound_bytes = [](const CodecMember&, std::size_t, std::size_t count) { return count * 2; },
    .kernels = kernels_by_set<GRADCOLL_OF_SETS(bf16_kernels)>};

}  // namespace

const CodecStage& cast_codec_stage() {
    return bf16_stage;
}

}  // namespace gradcoll
