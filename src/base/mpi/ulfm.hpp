// base/mpi/ulfm.hpp - what MPI libraries with ULFM (user-level failure mitigation) can do once a
// rank has died. They bring these functions beside MPI's own, so they are looked up while the
// program runs.
#pragma once

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// The functions are all there or all null: MPICH and Intel MPI have some of these, and end the
/// process in them (MPICH 4.0.2 to 5.0.1 over ch4).
struct Ulfm {
    int (*revoke)(MPI_Comm comm) = nullptr;
    int (*shrink)(MPI_Comm comm, MPI_Comm* rest) = nullptr;
    int (*iagree)(MPI_Comm comm, int* flag, MPI_Request* request) = nullptr;
    /// Returns the processes that have failed as far as this rank knows.
    int (*get_failed)(MPI_Comm comm, MPI_Group* failed) = nullptr;

    bool is_there() const {
        return revoke != nullptr && shrink != nullptr && iagree != nullptr && get_failed != nullptr;
    }
};
const Ulfm& ulfm();

/// Leaves of the flag what those of all ranks that live have in common, whoever dies meanwhile,
/// also where the communicator was revoked. Needs ULFM. Errors: peer_died where this rank was told
/// of a death, which others may not have been.
Status agree_as_survivors(MPI_Comm comm, int& flag);

/// Returns whether this rank knows of a rank of the communicator that has died, as calls of MPI
/// that failed have told it. Local. Needs ULFM.
bool knows_of_failures(MPI_Comm comm);

}  // namespace gradcoll
