// call/cached_blocks.hpp - the short way in of unchanged programs' block collectives on one
// host: a call whose communicator and type this thread knows is not admitted.
#pragma once

#include "call/cached_call.hpp"

namespace gradcoll {

/// Does what admit() and then run_reduce_scatter() or run_allgather() would do to a call through
/// shared memory, or to one that is too short to attach its communicator. Returns Shortcut::no for
/// every other call.
Shortcut run_cached_blocks(const Entry& entry, const CallArguments& arguments, Status& status);

}  // namespace gradcoll
