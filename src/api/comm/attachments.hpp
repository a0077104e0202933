// api/comm/attachments.hpp - how a context hangs on its communicator: an MPI attribute, freed with
// the communicator or in MPI_Finalize.
#pragma once

#include <memory>

#include "api/comm/comm_context.hpp"

namespace gradcoll {

/// The context of an attached communicator; null if it is not attached. Local; thread safe.
Result<std::shared_ptr<CommContext>> attached_context(MPI_Comm comm);
/// The same, and attaches it first if need be, which is collective. Null for intercommunicators,
/// which are never attached, for one that is being freed, and once MPI_Finalize has begun.
Result<std::shared_ptr<CommContext>> context_of(MPI_Comm comm);

/// That of an attached communicator without a question to MPI: of the communicators that this
/// thread has asked about last. Null for others, and once any communicator has lost its context
/// since. Valid while the communicator is.
CommContext* context_seen(MPI_Comm comm);

/// Makes a context with the settings of the process alone and hangs it on `comm`, an
/// intracommunicator of a program that does not know of this library. Warns once if these have a
/// schedule that nothing advances. Collective. Errors: those of CommContext::make.
Result<std::shared_ptr<CommContext>> attach_without_info(MPI_Comm comm);

/// Notes on the communicator that it could not be attached. Local.
Status refuse(MPI_Comm comm);
/// So it is, too, if the communicator is being freed, or MPI_Finalize has begun.
Result<bool> is_refused(MPI_Comm comm);

}  // namespace gradcoll
