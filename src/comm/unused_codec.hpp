// comm/unused_codec.hpp - a codec that was asked for and is not used: one line a job says so,
// and why, because who compares a run with and without it would compare exact with exact.
#pragma once

#include <cstdint>
#include <string>

#include "comm/comm_identity.hpp"
#include "comm/exact_reason.hpp"
#include "mpi/request.hpp"
#include "settings/settings.hpp"

namespace gradcoll {

/// Returns what settings ask for, for messages: "codec 2:4", "the schedule of gc_codec".
std::string asked_codec(const Settings& settings);

/// Returns whether note_codec_of() has something left to say under these settings. Thread safe; one
/// load.
bool awaits_codec(const Settings& settings);

/// Takes note of the way that a call of that communicator has found. Says at once that a codec is
/// not used where the call would have been compressed but for what only the library knows (it does
/// not pay, the tree has no such level, too little tolerance), unless another call was compressed
/// before. What the user left out (short vectors, filters, types, ops) is told when MPI ends, if no
/// call was compressed until then. Thread safe; one load where there is nothing left to say.
void note_codec_of(const CommIdentity& comm, const Settings& settings, const CallShape& shape,
                   ExactReason reason);

/// Takes note whether a tolerance leaves enough for a codec, which ranks find out when they look at
/// their vectors.
void note_tolerance(const CommIdentity& comm, std::uint64_t size_bytes, bool is_enough);

/// Says at once that what an engine's plan asks for is not used, while Settings::loss_in_doubt.
void tell_codec_in_doubt(const CommIdentity& comm, const std::string& asked);

/// Says, once a process, that a nonblocking or persistent call which the codec would compress
/// passes to the MPI library, whether other calls are compressed or not. `why` is text of the
/// reason.
void tell_codec_passed(const CommIdentity& comm, const Settings& settings, std::uint64_t size_bytes,
                       const char* why);

/// Says nothing more, as another line has said why none is compressed: that calls pass.
void codec_is_excused();

/// Takes note of settings that hold and may ask for a codec: if no call is looked at until MPI
/// ends, that is said then. It is called after MPI_Init. Thread safe.
void expect_codec(const Settings& settings);

}  // namespace gradcoll
