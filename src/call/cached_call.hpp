// call/cached_call.hpp - the short way in, on which calls are not admitted: an exact blocking
// allreduce like an earlier one of its communicator goes where that one went
// (docs/decisions/015-known-ways.md), and an unchanged program's call of another kind goes through
// the memory of one host if this thread knows its communicator and type.
#pragma once

#include "base/interposer_table.h"
#include "call/call.hpp"

namespace gradcoll {

enum class Shortcut : std::uint8_t {
    no,      ///< nothing was done
    served,  ///< `status` says how it ended
    passes   ///< the call passes to the MPI library, and has been counted
};
/// Does what admit() and run_call() would do to a blocking call, if that is known. If an allreduce
/// passes and is of no interest to the statistics, notes it in `passed`, unless that is null.
/// `status` is ok before.
Shortcut run_cached(const Entry& entry, const CallArguments& arguments, Status& status,
                    GC_Passed_call* passed = nullptr);
/// Does it for kinds other than allreduce: through memory, or passes the call if nothing else would
/// ever take it, or if it is too short to attach its communicator.
Shortcut run_cached_on_one_host(const Entry& entry, const CallArguments& arguments, Status& status);
/// Does what admit() and start_nonblocking() would do to an offered call through the memory of one
/// host, if an earlier call showed what that is.
Shortcut start_cached(const Entry& entry, const CallArguments& arguments, MPI_Request* request,
                      Status& status, GC_Passed_call* passed);

/// Remembers where an admitted allreduce without an error goes, if the settings send every one like
/// it there. One that may be compressed, is compared with other ranks' or is not on the host is
/// admitted anew each time.
void cache_call(const Call& call);

}  // namespace gradcoll
