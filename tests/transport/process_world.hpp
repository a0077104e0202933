// tests/transport/process_world.hpp - what the worlds of channels between processes share.
#pragma once

#include <mpi.h>

namespace gradcoll {

/// ProcessComm is a duplicate of MPI_COMM_WORLD that returns errors.
struct ProcessComm {
    ProcessComm() {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        // MPICH 4.0 raises errors of MPI_Testsome there, whatever the requests' communicator.
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    ~ProcessComm() {
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    ProcessComm(const ProcessComm&) = delete;
    ProcessComm& operator=(const ProcessComm&) = delete;
    /// Returns false: Open MPI 4.1 delivers the first bytes of a too long message to oneself,
    /// without an error; a rank alone on its host sends to itself through MPI, too.
    static bool self_messages_checked() { return false; }
    static bool threads_allowed() {
        int level = MPI_THREAD_SINGLE;
        MPI_Query_thread(&level);
        return level == MPI_THREAD_MULTIPLE;
    }

    MPI_Comm comm = MPI_COMM_NULL;
};

}  // namespace gradcoll
