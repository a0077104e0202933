// A codec of variable rate for tests, in place of 4:8 of fp32: no codec of the library has one.
// What asks for the bound, the rate or the kernels of a codec is linked to the functions here,
// which know `exact` and this one (tests/runtime/CMakeLists.txt).
#pragma once

#include "compress/codec_id.hpp"

namespace gradcoll {

inline constexpr CodecId test_codec = CodecId::nm_4_8;

/// Chooses the rate for what is made afterwards. The codec sends the upper 16 bits of each value.
/// At the variable rate it sends only those of values that are not 0, with their places, where that
/// is shorter; at the fixed rate those of all values, always. Both leave the same values and
/// residuals.
void use_variable_rate(bool variable);

}  // namespace gradcoll
