// base/mpi/mpi.hpp - <mpi.h>, the one way to turn an MPI return code into a Status, and what others
// need of MPI without more of its terms.
// Inside the library only PMPI_ names are called, so that tools above us see the user's calls and
// not ours.
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#include <mpi-ext.h>  // ULFM's error classes
#endif

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// This says whether this MPI library takes one buffer for both input and result of a collective
/// without MPI_IN_PLACE, which the standard forbids: Open MPI does, but for allreduces; MPICH
/// raises MPI_ERR_BUFFER.
#ifdef OPEN_MPI
inline constexpr bool mpi_takes_aliased_buffers = true;
/// This says whether error codes are numbers from 0 to MPI_LASTUSEDCODE, and to ask for the text of
/// another is an error itself.
inline constexpr bool mpi_counts_error_codes = true;
/// This says whether the call that completes a persistent request with an error also frees it.
inline constexpr bool mpi_frees_failed_requests = OMPI_MAJOR_VERSION < 5;
/// This says whether all calls can wait for a generalized request that another thread completes:
/// MPI_Waitall of MPICH 4.0 fails an assertion of its own.
inline constexpr bool mpi_waits_for_generalized_requests = true;
#else
inline constexpr bool mpi_takes_aliased_buffers = false;
inline constexpr bool mpi_counts_error_codes = false;
inline constexpr bool mpi_frees_failed_requests = false;
inline constexpr bool mpi_waits_for_generalized_requests = false;
#endif

/// This says whether <mpi.h> is that of the standard ABI of MPI 5, which several MPI libraries
/// have.
#if defined(MPI_ABI_VERSION) && !defined(OPEN_MPI) && !defined(MPICH_VERSION)
#define GRADCOLL_STANDARD_ABI 1
inline constexpr bool mpi_has_standard_abi = true;
#else
inline constexpr bool mpi_has_standard_abi = false;
#endif

/// Returns what the MPI library of this process means by MPI_ERRORS_RETURN. Libraries with the
/// standard ABI do not agree: with MPICH 5.0.2 it is 0x143, and 0x142 is MPI_ERRORS_ABORT; with
/// Intel MPI 2021.19 it is the other way round. Only between MPI_Init and MPI_Finalize.
MPI_Errhandler errors_return();

/// An Owned is a handle of MPI that is freed with its scope.
template <class Handle, int (*Free)(Handle*)>
class Owned {
  public:
    explicit Owned(Handle null) : handle(null), null_(null) {}
    Owned(Owned&& other) noexcept
        : handle(std::exchange(other.handle, other.null_)), null_(other.null_) {}
    Owned& operator=(Owned&&) = delete;
    ~Owned() {
        if (handle != null_) Free(&handle);
    }

    Handle handle;

  private:
    Handle null_;
};
using OwnedGroup = Owned<MPI_Group, PMPI_Group_free>;
/// Frees a communicator of ours, or leaves that to who guards it (GuardedComms).
int free_own_comm(MPI_Comm* comm);
struct OwnedComm : Owned<MPI_Comm, free_own_comm> {
    OwnedComm() : Owned(MPI_COMM_NULL) {}
};

/// Returns MPI's text of an error code. With the standard ABI the name of the code's class stands
/// before it: MPICH 5.0.2 and Intel MPI 2021.19 have texts there that belong to other classes.
std::string mpi_error_text(int mpi_code);

/// Returns ok for MPI_SUCCESS, else Code::transport with the call's name and mpi_error_text();
/// Code::peer_died if MPI says that a process has failed.
Status from_mpi(int mpi_code, const char* call);

inline int comm_rank(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}
inline int comm_size(MPI_Comm comm) {
    int size = 1;
    PMPI_Comm_size(comm, &size);
    return size;
}
/// Returns the name that the program or MPI gave the communicator; empty if MPI tells none.
std::string comm_name(MPI_Comm comm);

/// Returns rank 0's text, on every rank; those of others are not looked at. Collective. Errors:
/// transport; internal, on every rank, if it has more than `most_bytes`, which fit into an int.
Result<std::string> text_of_rank_0(MPI_Comm comm, std::string text, std::size_t most_bytes);

/// HostComm has the ranks of a communicator that are on this rank's host, in the order of the
/// communicator that they are of. Its own communicator has MPI_ERRORS_RETURN.
struct HostComm {
    /// Collective over `of`. Errors: transport.
    static Result<HostComm> make(MPI_Comm of);

    OwnedComm comm;
    int rank = 0;
    int size = 1;
    std::vector<int> ranks;  ///< one for each rank here: its number in the other communicator
};

}  // namespace gradcoll
