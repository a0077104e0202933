// topology/sources/cluster/exchange.hpp - byte strings to and from rank 0, and what a communicator
// says about its ranks.
#pragma once

#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// Collective. Everybody's bytes on rank 0, by rank; `all` stays empty elsewhere. Errors: those of
/// MPI; unsupported on all ranks if they are more than 2 GiB together.
Status gather_bytes(MPI_Comm comm, const std::string& mine, std::vector<std::string>& all);

/// Collective. `bytes` of rank 0 on all ranks. Errors: as above.
Status share_bytes(MPI_Comm comm, std::string& bytes);

/// Collective. What rank 0 has, or why it has nothing, on all ranks; `of_rank_0` of others is not
/// looked at. Errors: as above; rank 0's.
Result<std::string> share_result(MPI_Comm comm, const Result<std::string>& of_rank_0);

/// Collective. The lowest rank of `comm` that shares memory with the caller: it stands for the
/// host, as names may repeat (containers, cloned machines).
Status find_first_on_host(MPI_Comm comm, int rank, std::uint32_t& first);

/// The ranks of `comm` in MPI_COMM_WORLD; MPI_UNDEFINED where one is not there.
Status find_world_ranks(MPI_Comm comm, const std::vector<int>& ranks, std::vector<int>& world);

}  // namespace gradcoll
