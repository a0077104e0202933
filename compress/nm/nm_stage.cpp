// compress/nm/nm_stage.cpp - what the N:M codecs say of themselves.
#include <fmt/format.h>

#include "compress/nm/nm_layout.hpp"
#include "compress/stage.hpp"

namespace gradcoll {

using NmKernels = Kernels(int keep, int group, ElementType type);
/// Return the kernels that keep `keep` of every `group`; none if that is no codec or the type no
/// float (nm_kernels.cpp).
NmKernels GRADCOLL_OF_SETS(nm_kernels);

}  // namespace gradcoll

namespace gradcoll::nm {
namespace {

/// The parameters are N and M. The rates are from docs/benchmarks.md, "Codec kernels": fp32,
/// AVX-512, 64 MiB.
constexpr CodecMember members[] = {
    {.number = 1, .name = "1:4", .parameters = {1, 4}, .rates = {14.3, 12.5, 16.9}},
    {.number = 2, .name = "2:4", .parameters = {2, 4}, .rates = {14.0, 12.8, 14.5}},
    {.number = 3, .name = "1:8", .parameters = {1, 8}, .rates = {15.9, 15.7, 17.5}},
    {.number = 4, .name = "2:8", .parameters = {2, 8}, .rates = {6.4, 15.6, 13.3}},
    {.number = 5, .name = "4:8", .parameters = {4, 8}, .rates = {6.8, 13.9, 15.9}},
    {.number = 6, .name = "1:16", .parameters = {1, 16}, .rates = {15.3, 15.6, 17.6}},
};

std::string description(const CodecMember& member) {
    const auto [keep, group] = member.parameters;
    const std::string kept =
        keep == 1 ? "largest magnitude" : fmt::format("{} largest magnitudes", keep);
    return fmt::format("keeps the {} of every {} adjacent values", kept, group);
}

std::size_t bound(const CodecMember& member, std::size_t elem_bytes, std::size_t count) {
    const auto keep = static_cast<std::size_t>(member.parameters[0]);
    const auto group = static_cast<std::size_t>(member.parameters[1]);
    const std::size_t groups = count / group;
    const std::size_t mask_words = (groups * group + window_elems - 1) / window_elems;
    return mask_words * sizeof(std::uint32_t) + (groups * keep + count % group) * elem_bytes;
}

constexpr CodecStage stage{
    .members = members,
    .description = description,
    .supports = [](const CodecMember&, ElementType type) { return is_floating(type); },
    .block_elems = block_elems,
    .bound_bytes = bound,
    .kernels = kernels_by_set<GRADCOLL_OF_SETS(nm_kernels)>};

}  // namespace
}  // namespace gradcoll::nm

namespace gradcoll {

const CodecStage& nm_codec_stage() {
    return nm::stage;
}

}  // namespace gradcoll
