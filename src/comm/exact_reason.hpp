// comm/exact_reason.hpp - why a call is not compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

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
    blocks_too_short,
    count
};
/// Returns static text for explanations. Null for `none`.
inline const char* text_of(ExactReason reason) {
    // The texts are in the order of ExactReason.
    static constexpr const char* texts[] = {
        nullptr,
        "no lossy codec is set",
        "a setting that limits what sums may lose is ignored, so all are exact",
        "this kind of call is never compressed",
        "only MPI_SUM is ever compressed",
        "the codec is not defined for the datatype",
        "vector is shorter than gc_compress_bytes",
        "vector is longer than gc_compress_bytes",
        "GC_COMPRESS_COMMS leaves the communicator exact",
        "gc_compress_calls leaves the call exact",
        "no level of this tree has a lossy codec",
        "its codec would take longer than it saves (gc_compress_if=pays)",
        "gc_tolerance compresses reductions without a residual only",
        "gc_tolerance leaves too little for a codec to be worth it",
        "codecs encode 512 elements of each block together, and blocks are shorter",
    };
    static_assert(std::size(texts) == static_cast<std::size_t>(ExactReason::count));
    return texts[static_cast<std::size_t>(reason)];
}

}  // namespace gradcoll
