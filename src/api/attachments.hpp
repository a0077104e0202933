// api/attachments.hpp - how a context hangs on its communicator: an MPI attribute, freed with the
// communicator or in MPI_Finalize.
#pragma once

#include <memory>

#include "api/comm_context.hpp"

namespace gradcoll {

/// The context of an attached communicator; null if it is not attached. Local; thread safe.
Result<std::shared_ptr<CommContext>> attached_context(MPI_Comm comm);

/// The same, and attaches it first if need be, which is collective. Null for intercommunicators,
/// which are never attached.
Result<std::shared_ptr<CommContext>> context_of(MPI_Comm comm);

}  // namespace gradcoll
