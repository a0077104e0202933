// mpi/ulfm.hpp - what MPI libraries with ULFM (user-level failure mitigation) can do once a rank
// has died. They bring these functions beside MPI's own, so they are looked up while the program
// runs.
#pragma once

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// Each of these is null where the MPI library has no such function.
struct Ulfm {
    int (*revoke)(MPI_Comm comm) = nullptr;
    int (*shrink)(MPI_Comm comm, MPI_Comm* rest) = nullptr;
    int (*iagree)(MPI_Comm comm, int* flag, MPI_Request* request) = nullptr;
    /// Returns the processes that have failed as far as this rank knows.
    int (*get_failed)(MPI_Comm comm, MPI_Group* failed) = nullptr;

    bool can_shrink() const { return revoke != nullptr && shrink != nullptr; }
};
const Ulfm& ulfm();

}  // namespace gradcoll
