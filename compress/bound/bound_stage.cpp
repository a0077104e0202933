// compress/bound/bound_stage.cpp - what the codec says of itself.
#include <string>

#include "compress/bound/bound_layout.hpp"
#include "compress/stage.hpp"

namespace gradcoll {

using BoundKernels = Kernels(ElementType type);
/// Return no kernels if the type is no float (bound_kernels.cpp).
BoundKernels GRADCOLL_OF_SETS(bound_kernels);

}  // namespace gradcoll

namespace gradcoll::bound {
namespace {

/// Rates: fp32, abs=1e-2 of normal values (9 bits each), AVX-512, a block of 512 a call, 64 MiB, as
/// ratios to memcpy in the same run (README.md), times the 7.4 GB/s that memcpy had for other
/// codecs.
constexpr CodecMember members[] = {
    {.number = 11,
     .name = "bound",
     .rates = {8.3, 10.7, 11.3, 0.3},
     .takes = {.abs = true},
     .needs_tolerance = true},
};

constexpr CodecStage stage{
    .members = members,
    .description =
        [](const CodecMember&) {
            return std::string(
                "rounds to as few bits as a tolerance allows: no value comes back further off");
        },
    .supports = [](const CodecMember&, ElementType type) { return is_floating(type); },
    .block_elems = block_elems,
    .has_fixed_rate = false,
    .bound_bytes = [](const CodecMember&, std::size_t elem_bytes,
                      std::size_t count) { return most_bytes(elem_bytes, count); },
    .kernels = kernels_by_set<GRADCOLL_OF_SETS(bound_kernels)>};

}  // namespace
}  // namespace gradcoll::bound

namespace gradcoll {

const CodecStage& bound_codec_stage() {
    return bound::stage;
}

}  // namespace gradcoll
