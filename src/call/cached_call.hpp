// call/cached_call.hpp - the short way in: an exact blocking allreduce like an earlier one of
// its communicator goes where that one went, and is not admitted again
// (docs/decisions/015-known-ways.md).
#pragma once

#include "base/interposer_table.h"
#include "call/call.hpp"

namespace gradcoll {

enum class Shortcut : std::uint8_t {
    no,      ///< nothing was done
    served,  ///< `status` says how it ended
    passes   ///< the call passes to the MPI library, and has been counted
};
/// Does what admit() and run_allreduce() would do, if an earlier call showed what that is. If a
/// call passes and is of no interest to the statistics, notes it in `passed`, unless that is null.
Shortcut run_cached(const Entry& entry, const CallArguments& arguments, Status& status,
                    GC_Passed_call* passed = nullptr);
/// Does what admit() and start_nonblocking() would do to an offered call through the memory of one
/// host, if an earlier call showed what that is.
Shortcut start_cached(const Entry& entry, const CallArguments& arguments, MPI_Request* request,
                      Status& status, GC_Passed_call* passed);

/// Remembers where an admitted allreduce without an error goes, if the settings send every one like
/// it there. One that may be compressed, is compared with other ranks' or is not on the host is
/// admitted anew each time.
void cache_call(const Call& call);

}  // namespace gradcoll
