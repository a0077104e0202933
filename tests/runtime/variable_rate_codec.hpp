// A codec of variable rate for tests, in place of 4:8 of fp32: no codec of the library has one.
// What asks for the bound, the rate or the kernels of a codec is linked to the functions here,
// which know `exact` and this one (tests/runtime/CMakeLists.txt).
#pragma once

#include "compress/codec_id.hpp"

namespace gradcoll {

inline constexpr CodecId test_codec = CodecId::nm_4_8;

/// Sends the upper 16 bits of each value. Variable: only those of values that are not 0, with their
/// places, where that is shorter. Fixed: those of all values, always. Both leave the same values
/// and residuals. For what is made afterwards.
void use_variable_rate(bool variable);

}  // namespace gradcoll
