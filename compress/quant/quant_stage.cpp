// compress/quant/quant_stage.cpp - what the quantizing codecs say of themselves.
#include <fmt/format.h>

#include "compress/quant/quant_form.hpp"
#include "compress/quant/quant_layout.hpp"
#include "compress/stage.hpp"

namespace gradcoll {

using QuantKernels = Kernels(int bits, ElementType type);
/// Return the kernels for codes of 4, 8 or 16 bits; none for other widths, and for types that
/// quant_layout.hpp does not quantize to that width (quant_kernels.cpp).
QuantKernels GRADCOLL_OF_SETS(quant_kernels);
/// Return kernels that round by chance (CodecParameters::seed).
QuantKernels GRADCOLL_OF_SETS(dither_kernels);

}  // namespace gradcoll

namespace gradcoll::quant {
namespace {

constexpr TakenParameters parameters_of_all{.abs = true, .rel = true, .seed = true};

/// The parameter is the number of bits of a code. The rates are for fp32, AVX-512, 64 MiB, as
/// ratios to memcpy in the same run (docs/benchmarks.md, "Codec kernels"), times the 7.4 GB/s that
/// memcpy had for other codecs.
constexpr CodecMember members[] = {
    {.number = 8,
     .name = "int8",
     .parameters = {8},
     .rates = {11.4, 17.6, 13.8},
     .takes = parameters_of_all},
    {.number = 9,
     .name = "int4",
     .parameters = {4},
     .rates = {11.5, 15.0, 12.9},
     .takes = parameters_of_all},
    {.number = 10,
     .name = "int16",
     .parameters = {16},
     .rates = {9.1, 16.3, 13.0},
     .takes = parameters_of_all},
};

bool supports(const CodecMember& member, ElementType type) {
    return quantizes(member.parameters[0], type);
}
std::size_t bytes(const CodecMember& member, std::size_t elem_bytes, std::size_t count) {
    return encoded_bytes(member.parameters[0], elem_bytes, count);
}

/// These are slower with `seed`, measured in the same way.
constexpr CodecMember dithered_members[] = {
    {.number = 8, .name = "int8", .parameters = {8}, .rates = {5.8, 17.6, 13.8}},
    {.number = 9, .name = "int4", .parameters = {4}, .rates = {5.8, 15.0, 12.9}},
    {.number = 10, .name = "int16", .parameters = {16}, .rates = {5.8, 16.3, 13.0}},
};

constexpr CodecStage dithered_stage{
    .members = dithered_members,
    .description =
        [](const CodecMember& member) {
            return fmt::format(
                "rounds up or down by chance to {} bits a value, with scale and "
                "zero point of {} values",
                member.parameters[0], block_elems);
        },
    .supports = supports,
    .block_elems = block_elems,
    .bound_bytes = bytes,
    .kernels = kernels_by_set<GRADCOLL_OF_SETS(dither_kernels)>};

/// Returns the member of a form with the same number.
CodecEntry form_of(const CodecStage& form, const CodecMember& member) {
    for (const CodecMember& same : form.members)
        if (same.number == member.number) return {&form, &same};
    return {};
}

CodecEntry form_with(const CodecMember& member, const CodecParameters& parameters) {
    switch (quant_form_of(parameters)) {
        case QuantForm::with_escapes:
            return form_of(escape_stage(parameters.rel != 0), member);
        case QuantForm::by_chance:
            return form_of(dithered_stage, member);
        case QuantForm::to_nearest:
            break;
    }
    return {};
}

constexpr CodecStage stage{
    .members = members,
    .description =
        [](const CodecMember& member) {
            return fmt::format("rounds to {} bits a value, with scale and zero point of {} values",
                               member.parameters[0], block_elems);
        },
    .supports = supports,
    .block_elems = block_elems,
    .bound_bytes = bytes,
    .kernels = kernels_by_set<GRADCOLL_OF_SETS(quant_kernels)>,
    .form_with = form_with};

}  // namespace
}  // namespace gradcoll::quant

namespace gradcoll {

const CodecStage& quant_codec_stage() {
    return quant::stage;
}

}  // namespace gradcoll
