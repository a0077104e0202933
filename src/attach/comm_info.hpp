// attach/comm_info.hpp - gc_* keys that an unchanged program put on a communicator.
#pragma once

#include "ways/comm_context.hpp"

namespace gradcoll {

/// Takes the gc_* keys of `info`, one by one, into the communicator's settings. What is not
/// allowed, or not the same on all ranks, is warned about by rank 0 and ignored. Collective.
/// Errors: transport.
Status take_info(CommContext& context, MPI_Info info);

}  // namespace gradcoll
