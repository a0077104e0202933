// settings/process_tuning.hpp - the figures that a communicator's calls are planned with: those
// of the file that GC_TUNING_FILE names on its rank 0, on every rank.
#pragma once

#include <memory>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "collectives/predict/tuning.hpp"

namespace gradcoll {

/// Returns the figures of this process's GC_TUNING_FILE, which is read once. A file that cannot be
/// read or is wrong is reported once a job on stderr, and the shipped figures hold. Never null.
/// Thread safe.
std::shared_ptr<const Tuning> tuning_of_process();
/// Returns whether GC_TUNING_FILE names a file, and these are that file's figures. Thread safe.
bool tuning_file_holds();

/// Returns what rank 0 of `comm` read, so that all ranks plan alike whatever file other hosts have.
/// Collective. Never null. Errors: transport.
Result<std::shared_ptr<const Tuning>> tuning_of_rank_0(MPI_Comm comm);

}  // namespace gradcoll
