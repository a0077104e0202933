// mpi/pass_reason.hpp - why a call passes to the MPI library.
#pragma once

#include <cstdint>

namespace gradcoll {

/// A PassReason rests only on what all ranks know alike, or they would part ways and hang.
/// Exceptions lie in this rank's own arguments: most of them the MPI library refuses.
enum class PassReason : std::uint8_t {
    none,  ///< it does not pass

    // what the library cannot do
    unknown_datatype,
    unknown_op,
    op_not_defined,
    large_elements,
    intercommunicator,
    single_rank,
    needs_one_host,  ///< only shared memory of one host serves this kind of call
    not_attached,
    nonblocking_without_threads,
    persistent_without_threads,
    nonblocking_in_another_order,
    device_not_in_use,

    // what is not worth it, or not wanted
    empty_vector,  ///< MPI returns at once, where ranks of ours would wait for each other
    short_vector,
    short_beyond_max_bytes,  ///< the call is exact because of gc_compress_bytes, and short
    short_in_exact_comm,     ///< the call is exact because of GC_COMPRESS_COMMS, and short
    short_in_exact_call,     ///< the call is exact because of gc_compress_calls, and short
    short_without_codec,     ///< the call is exact because its codec does not pay, and short
    short_of_attaching,
    enough_attached,
    slower_on_one_host,  ///< the MPI library does calls of this kind and length faster
    being_tried,         ///< the MPI library's way is tried in turns with ours
    slower_when_tried,
    interception_off,
    not_intercepted,

    // what an unchanged program does
    wrong_arguments,
    unusable_buffer,
    aliased_buffer,
    unequal_blocks,
    invalid_comm,
    attaching_failed,
    ranks_differ,
    count
};

/// Returns static text for reports, logs and explanations. Null for `none`.
const char* text_of(PassReason reason);

}  // namespace gradcoll
