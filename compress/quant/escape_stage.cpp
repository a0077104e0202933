// compress/quant/escape_stage.cpp - what the quantizing codecs say of themselves when they are
// given a tolerance.
#include <fmt/format.h>

#include "compress/quant/escape_layout.hpp"
#include "compress/quant/quant_form.hpp"
#include "compress/stage.hpp"

namespace gradcoll {

using EscapeKernels = Kernels(int bits, ElementType type);
/// Return the kernels for codes of 4, 8 or 16 bits; none for other widths, and for types that
/// quant_layout.hpp does not quantize to that width (escape_kernels.cpp).
EscapeKernels GRADCOLL_OF_SETS(escape_kernels);

}  // namespace gradcoll

namespace gradcoll::quant {
namespace {

/// The rates are for fp32, int8/abs=2e-2 of normal values (few escapes), AVX-512, a block of 512 a
/// call, 64 MiB, as ratios to memcpy in the same run (docs/benchmarks.md), times the 7.4 GB/s that
/// memcpy had for other codecs.
constexpr CodecMember told_members[] = {
    {.number = 8, .name = "int8", .parameters = {8}, .rates = {13.1, 13.2, 13.9, 0.26}},
    {.number = 9, .name = "int4", .parameters = {4}, .rates = {13.1, 13.2, 13.9, 0.14}},
    {.number = 10, .name = "int16", .parameters = {16}, .rates = {13.1, 13.2, 13.9, 0.51}},
};

/// These rates are for int8/rel=0.1: several windows are tried, and many values escape. The parts
/// of the bound are for normal and Laplace values with rel=0.1, those of int16 with 0.001.
constexpr CodecMember relative_members[] = {
    {.number = 8, .name = "int8", .parameters = {8}, .rates = {3.4, 10.5, 12.0, 0.33}},
    {.number = 9, .name = "int4", .parameters = {4}, .rates = {3.4, 10.5, 12.0, 0.8}},
    {.number = 10, .name = "int16", .parameters = {16}, .rates = {3.4, 10.5, 12.0, 0.54}},
};

constexpr CodecStage stage_of(std::span<const CodecMember> some) {
    return {.members = some,
            .description =
                [](const CodecMember& member) {
                    return fmt::format(
                        "rounds to {} bits a value; those that would come back too far off go as "
                        "they are",
                        member.parameters[0]);
                },
            .supports = [](const CodecMember& member,
                           ElementType type) { return quantizes(member.parameters[0], type); },
            .block_elems = escape_block_elems,
            .has_fixed_rate = false,
            .bound_bytes = [](const CodecMember&, std::size_t elem_bytes,
                              std::size_t count) { return escape_bound_bytes(elem_bytes, count); },
            .kernels = kernels_by_set<GRADCOLL_OF_SETS(escape_kernels)>};
}

constexpr CodecStage told_stage = stage_of(told_members);
constexpr CodecStage relative_stage = stage_of(relative_members);

}  // namespace
}  // namespace gradcoll::quant

namespace gradcoll {

const CodecStage& escape_stage(bool relative) {
    return relative ? quant::relative_stage : quant::told_stage;
}

}  // namespace gradcoll
