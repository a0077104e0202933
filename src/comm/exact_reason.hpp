// comm/exact_reason.hpp - why a call is not compressed.
#pragma once

#include <cstdint>

namespace gradcoll {

/// ExactReason says why a call is not compressed. The reasons from above_max_bytes on are told even
/// if the call passes because it is short: but for them it would be compressed, and long enough.
enum class ExactReason : std::uint8_t {
    none,  ///< it is compressed
    no_lossy_codec,
    loss_in_doubt,
    never_compressed,  ///< this kind of call never is
    not_a_sum,
    codec_not_defined,
    below_min_bytes,
    above_max_bytes,
    comm_left_out,
    call_left_out,
    no_lossy_level,
    does_not_pay,
    tolerance_needs_a_look,
    tolerance_too_small,
    count
};
/// Returns static text for explanations. Null for `none`.
const char* text_of(ExactReason reason);

}  // namespace gradcoll
