// api/calls/known_call.hpp - the short way in: an exact blocking allreduce like an earlier one of
// its communicator goes where that one went, and is not admitted again
// (docs/decisions/015-known-ways.md).
#pragma once

#include "api/calls/call.hpp"

namespace gradcoll {

/// Does what admit() and run_allreduce() would do, if an earlier call showed what that is. False:
/// nothing was done. Otherwise `status` says how it ended.
bool run_known(const Entry& entry, const CallArguments& arguments, Status& status);

/// Remembers where an admitted allreduce goes, if the settings send every one like it there: one
/// that may be compressed, is compared with other ranks' or is not on the host is admitted anew
/// each time.
void learn_way_of(const Call& call);

}  // namespace gradcoll
