// comm/known_processes.hpp - what ranks have found out together when a communicator of theirs
// was attached, for the next communicators of the same processes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/watched_process.hpp"
#include "collectives/predict/tuning.hpp"

namespace gradcoll {

/// Returns the numbers in MPI_COMM_WORLD of a communicator's ranks, in their order. They are empty
/// if one of the ranks has none: it was spawned, and nothing is remembered of its communicators.
std::vector<int> world_ranks_of(MPI_Comm comm);

/// ProcessFacts are facts about processes whose settings in the environment are alike and allowed.
struct ProcessFacts {
    int ranks_on_host = 0;  ///< ranks on this process's host; this alone is each rank's own
    int most_ranks_on_host = 0;
    std::shared_ptr<const Tuning> tuning;
    bool loss_in_doubt = false;  ///< see Settings
};

/// Returns what this process remembers; ranks have to agree on whether all of them do. Thread safe.
std::optional<ProcessFacts> facts_of(const std::vector<int>& world_ranks);
/// Remembers the facts, for a thousand groups of processes at most.
void remember(const std::vector<int>& world_ranks, const ProcessFacts& facts);

/// Returns the process of each rank: what is known from earlier communicators if `all_know`, which
/// is the same on all ranks, else they tell each other, and it is remembered. Collective. Errors:
/// transport.
Result<std::vector<ProcessName>> processes_of(MPI_Comm comm, const std::vector<int>& world_ranks,
                                              bool all_know);
/// Returns whether this rank remembers the processes of these ranks of MPI_COMM_WORLD.
bool knows_processes_of(const std::vector<int>& world_ranks);

}  // namespace gradcoll
