// base/mpi/guarded_comms.hpp - communicators of ours that are made while ranks may die: whoever
// cannot go on lets nobody wait on them (GC_Comm_shrink).
#pragma once

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// GuardedComms are a communicator and all private ones that are made of it, or of those, while
/// this object lives. Each of them is one on all ranks that live, or an error on all. None is freed
/// before this object ends (free_own_comm() leaves them to it), so revoke() ends the waits of
/// others on all of them. Needs an MPI library with ULFM.
class GuardedComms {
  public:
    explicit GuardedComms(MPI_Comm first);
    ~GuardedComms();
    GuardedComms(const GuardedComms&) = delete;
    GuardedComms& operator=(const GuardedComms&) = delete;

    /// Makes all calls on them errors, on all ranks.
    void revoke();

    /// Returns the status of all ranks to `made`, which this rank made of `parent` with the status
    /// `mine` (null: it is no member, or failed). Collective over the parent if that is guarded;
    /// else local, and the status is `mine`.
    static Status of_all(MPI_Comm parent, MPI_Comm made, Status mine);
};

}  // namespace gradcoll
