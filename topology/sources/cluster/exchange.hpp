// topology/sources/cluster/exchange.hpp - sends byte strings to and from rank 0, and finds what a
// communicator says about its ranks.
#pragma once

#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// Gathers everybody's bytes on rank 0, by rank; `all` stays empty elsewhere. Collective. Errors:
/// those of MPI; unsupported on all ranks if they are more than 2 GiB together.
Status gather_bytes(MPI_Comm comm, const std::string& mine, std::vector<std::string>& all);

/// Copies `bytes` of rank 0 to all ranks. Collective. Errors: as gather_bytes().
Status share_bytes(MPI_Comm comm, std::string& bytes);

/// Returns rank 0's value, or its error, on all ranks; `of_rank_0` is ignored elsewhere.
/// Collective. Errors: as gather_bytes(); rank 0's.
Result<std::string> share_result(MPI_Comm comm, const Result<std::string>& of_rank_0);

/// Finds the lowest rank of `comm` that shares memory with the caller: it stands for the host, as
/// names may repeat (containers, cloned machines). Collective.
Status find_first_on_host(MPI_Comm comm, int rank, std::uint32_t& first);

/// Finds the ranks of `comm` in MPI_COMM_WORLD; MPI_UNDEFINED for one that is not there.
Status find_world_ranks(MPI_Comm comm, const std::vector<int>& ranks, std::vector<int>& world);

}  // namespace gradcoll
