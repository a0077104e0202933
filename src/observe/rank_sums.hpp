// observe/rank_sums.hpp - the sums of all ranks of the job, gathered for the report of rank 0.
#pragma once

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// Every rank of `comm` says so in its attach, and all of them have a report. If they are the ranks
/// of MPI_COMM_WORLD, rank 0 gets the sums of all at the beginning of MPI_Finalize: then all ranks
/// are there. Of other communicators nobody knows that of the remaining ranks. Local.
void all_ranks_report(MPI_Comm comm);

}  // namespace gradcoll
