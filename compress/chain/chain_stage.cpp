// compress/chain/chain_stage.cpp - what the chains say of themselves.
#include <fmt/format.h>

#include "compress/chain/chain_layout.hpp"
#include "compress/stage.hpp"

namespace gradcoll {

using ChainKernels = Kernels(int keep, int bits, ElementType type);
/// Return the kernels that keep `keep` of every four, in codes of `bits`; none if that is no chain
/// of ours, or not one for the type (chain_kernels.cpp).
ChainKernels GRADCOLL_OF_SETS(chain_kernels);

}  // namespace gradcoll

namespace gradcoll::chain {
namespace {

/// The parameters are N (of 4) and bits of a code. The rates are for fp32, AVX-512, 64 MiB, as
/// ratios to memcpy in the same run (docs/benchmarks.md), times the 7.4 GB/s that memcpy had for
/// other codecs.
constexpr CodecMember members[] = {
    {.number = 12, .name = "2:4+int8", .parameters = {2, 8}, .rates = {11.8, 13.5, 13.5}},
    {.number = 13, .name = "1:4+int8", .parameters = {1, 8}, .rates = {12.4, 12.8, 13.8}},
    {.number = 14, .name = "2:4+int4", .parameters = {2, 4}, .rates = {11.1, 14.4, 14.9}},
};

std::string description(const CodecMember& member) {
    const auto [keep, bits] = member.parameters;
    return fmt::format("keeps the {} of every {} adjacent values, rounded to {} bits each",
                       keep == 1 ? "largest magnitude" : "2 largest magnitudes", group, bits);
}

constexpr CodecStage stage{
    .members = members,
    .description = description,
    .supports = [](const CodecMember& member,
                   ElementType type) { return quant::quantizes(member.parameters[1], type); },
    .block_elems = block_elems,
    .bound_bytes =
        [](const CodecMember& member, std::size_t elem_bytes, std::size_t count) {
            return encoded_bytes(static_cast<std::size_t>(member.parameters[0]),
                                 member.parameters[1], elem_bytes, count);
        },
    .kernels = kernels_by_set<GRADCOLL_OF_SETS(chain_kernels)>};

}  // namespace
}  // namespace gradcoll::chain

namespace gradcoll {

const CodecStage& chain_codec_stage() {
    return chain::stage;
}

}  // namespace gradcoll
