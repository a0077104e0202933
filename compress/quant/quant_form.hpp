// compress/quant/quant_form.hpp - which of their forms the parameters of the quantizing codecs ask
// for.
#pragma once

#include <cstdint>

#include "compress/kernels.hpp"

namespace gradcoll::quant {

enum class QuantForm : std::uint8_t { to_nearest, by_chance, with_escapes };

inline QuantForm quant_form_of(const CodecParameters& parameters) {
    if (parameters.abs != 0 || parameters.rel != 0 || parameters.call_parts != 0)
        return QuantForm::with_escapes;
    return parameters.seed != 0 ? QuantForm::by_chance : QuantForm::to_nearest;
}

}  // namespace gradcoll::quant

namespace gradcoll {

struct CodecStage;

/// Returns the stage that serves int8, int4 and int16 with a tolerance: for all values alike, or
/// relative to each.
const CodecStage& escape_stage(bool relative);

}  // namespace gradcoll
