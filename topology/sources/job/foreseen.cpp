// topology/sources/job/foreseen.cpp - jobs on one host that do not exist: writes down what their
// ranks would find, and makes the tree.
#include "topology/sources/job/foreseen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "topology/sources/host/this_machine.hpp"
#include "topology/sources/job/job_tree.hpp"

namespace gradcoll {

namespace {

Status check_rank_count(int rank_count) {
    if (rank_count >= 0 && rank_count <= max_tree_ranks) return {};
    return {Code::invalid_argument,
            fmt::format("ranks is {}; allowed are 0 to {}", rank_count, max_tree_ranks)};
}

/// Returns the path of one of the ranks that would be on this host.
HostPath placed(const std::vector<HostPath>& cores, const HostPath& whole, int rank,
                int rank_count) {
    const bool fits = static_cast<std::size_t>(rank_count) <= cores.size();
    return fits ? cores[static_cast<std::size_t>(rank)] : whole;
}

std::string assumption(std::size_t core_count, int rank_count) {
    const bool fits = static_cast<std::size_t>(rank_count) <= core_count;
    return fmt::format("assumed: {} on this host of {} cores, {}; a launcher may bind otherwise",
                       rank_count == 1 ? "one rank" : fmt::format("{} ranks", rank_count),
                       core_count, fits ? "bound one to a core in order" : "not bound");
}

/// Makes the tree of one host, with rank i at paths[i].
Result<DiscoveredTree> from_paths(JobSources& sources, const std::vector<HostPath>& paths) {
    Job job;
    JobHost& host = job.hosts.emplace_back();
    host.name = paths.front().host_name;
    for (const HostPath& path : paths) {
        const int rank = static_cast<int>(host.ranks.size());
        host.ranks.push_back({rank, rank, path});
    }
    return sources.tree_of(job, {});
}

Result<DiscoveredTree> on_this_machine(JobSources& sources, int rank_count) {
    const auto cores = GRADCOLL_VALUE(this_machine_core_paths());
    const auto whole = GRADCOLL_VALUE(this_machine_path());
    std::vector<HostPath> paths;
    for (int rank = 0; rank < rank_count; ++rank)
        paths.push_back(placed(cores, whole, rank, rank_count));
    auto tree = from_paths(sources, paths);
    if (tree.ok()) tree->origin = assumption(cores.size(), rank_count);
    return tree;
}

Result<DiscoveredTree> on_described_host(JobSources& sources, int rank_count) {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    HostPath path;
    path.host_name = name;
    TreeSource& host = *sources.source(Part::inside);
    auto count = static_cast<std::size_t>(rank_count);
    if (count == 0) {
        const std::size_t places = GRADCOLL_VALUE(host.places_on(name));
        count = std::clamp<std::size_t>(places, 1, max_tree_ranks);
    }
    auto tree = from_paths(sources, std::vector(count, path));
    if (tree.ok())
        tree->origin = fmt::format(
            "{}; assumed: {} on this host, dealt to its {}s in order", sources.origin(),
            count == 1 ? "one rank" : fmt::format("all {} ranks", count), host.place_name());
    return tree;
}

}  // namespace

Result<DiscoveredTree> foreseen_tree(const std::string& written, int rank_count) {
    GRADCOLL_TRY(check_rank_count(rank_count));
    WrittenSource source = GRADCOLL_VALUE(written_source(written));
    source = GRADCOLL_VALUE(resolved(std::move(source)));
    JobSources sources(source);
    const Reports reports = sources.needs().reports;
    if (reports == Reports::none) {
        Job job;
        job.rank_count = rank_count;
        return sources.tree_of(job, {});
    }
    return reports == Reports::host_paths ? on_this_machine(sources, std::max(rank_count, 1))
                                          : on_described_host(sources, rank_count);
}

}  // namespace gradcoll
