// attach/comm_info.hpp - gc_* keys that an unchanged program put on a communicator; and those that
// a communicator gets before its ranks may ask each other: MPI_Comm_idup_with_info must not wait
// for them. An attribute carries these to the duplicate, whose first blocking call takes them.
#pragma once

#include <optional>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Takes the gc_* keys of `info`, one by one, into the communicator's settings. What is not
/// allowed, or not the same on all ranks, is warned about by rank 0 and ignored. Collective.
/// Errors: transport.
Status take_info(CommContext& context, MPI_Info info);

struct OwnedInfo : Owned<MPI_Info, PMPI_Info_free> {
    OwnedInfo() : Owned(MPI_INFO_NULL) {}
};

/// Gives the gc_* keys of `info`, also if it has none, to the duplicate of `comm` that begins
/// before next_dup_has_begun(). Local. Errors: transport.
Status give_to_next_dup(MPI_Comm comm, MPI_Info info);
/// Is called once the duplicate has begun: those that begin later get nothing.
void next_dup_has_begun(MPI_Comm comm);

/// Returns whether info waits on the communicator, which all its ranks then know. Cheap as long as
/// no info ever waited.
bool has_waiting_info(MPI_Comm comm);
/// Returns what waits on the communicator, which then waits no longer. Errors: transport.
Result<OwnedInfo> take_waiting_info(MPI_Comm comm);

}  // namespace gradcoll
