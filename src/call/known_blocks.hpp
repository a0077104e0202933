// call/known_blocks.hpp - the short way in of unchanged programs' block collectives on one
// host: a call whose communicator and type this thread knows is not admitted.
#pragma once

#include "call/known_call.hpp"

namespace gradcoll {

/// Does what admit() and then run_reduce_scatter() or run_allgather() would do to a call through
/// shared memory, or to one that is too short to attach its communicator. Returns Known::no for
/// every other call.
Known run_known_blocks(const Entry& entry, const CallArguments& arguments, Status& status);

}  // namespace gradcoll
