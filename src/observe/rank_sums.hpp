// observe/rank_sums.hpp - the sums of all ranks of the job, gathered for the report of rank 0.
#pragma once

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// Tells that all ranks of `comm` have a report, as each said in its attach. If they are the ranks
/// of MPI_COMM_WORLD, rank 0 gets the sums of all at the beginning of MPI_Finalize, because all
/// ranks are there then. Other communicators do not tell whether the remaining ranks have a report.
/// Local.
void all_ranks_report(MPI_Comm comm);

}  // namespace gradcoll
