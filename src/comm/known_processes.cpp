#include "comm/known_processes.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "base/mpi/exchange.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_groups = 1000;

struct Memory {
    std::mutex mutex;
    std::map<std::vector<int>, ProcessFacts> groups;
    std::map<int, ProcessName> by_world_rank;
};

/// The memory is never destroyed: calls may still come while the process exits.
Memory& memory() {
    static Memory& memory = *new Memory;
    return memory;
}

}  // namespace

std::vector<int> world_ranks_of(MPI_Comm comm) {
    const int count = comm_size(comm);
    std::vector<int> ranks(static_cast<std::size_t>(count));
    std::vector<int> found(ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, count, ranks.data(), world, found.data());
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    const bool all_known = std::find(found.begin(), found.end(), MPI_UNDEFINED) == found.end();
    return all_known ? found : std::vector<int>();
}

std::optional<ProcessFacts> facts_of(const std::vector<int>& world_ranks) {
    const std::scoped_lock lock(memory().mutex);
    const auto found = memory().groups.find(world_ranks);
    return found == memory().groups.end() ? std::nullopt : std::optional(found->second);
}

void remember(const std::vector<int>& world_ranks, const ProcessFacts& facts) {
    const std::scoped_lock lock(memory().mutex);
    auto& groups = memory().groups;
    if (world_ranks.empty() || (groups.size() >= most_groups && !groups.contains(world_ranks)))
        return;
    groups[world_ranks] = facts;
}

bool knows_processes_of(const std::vector<int>& world_ranks) {
    const std::scoped_lock lock(memory().mutex);
    for (const int rank : world_ranks)
        if (!memory().by_world_rank.contains(rank)) return false;
    return !world_ranks.empty();
}

Result<std::vector<ProcessName>> processes_of(MPI_Comm comm, const std::vector<int>& world_ranks,
                                              bool all_know) {
    static const ProcessName own = this_process_name();
    std::vector<ProcessName> names(world_ranks.size());
    if (!all_know) names = GRADCOLL_VALUE(gathered(comm, own));
    const std::scoped_lock lock(memory().mutex);
    for (std::size_t i = 0; i < world_ranks.size(); ++i)
        if (all_know)
            names[i] = memory().by_world_rank[world_ranks[i]];
        else
            memory().by_world_rank[world_ranks[i]] = names[i];
    return names;
}

}  // namespace gradcoll
