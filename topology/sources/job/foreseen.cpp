// topology/sources/job/foreseen.cpp - jobs on one host that are not there: writes down what its
// ranks would find, and makes the tree of it.
#include "topology/sources/job/foreseen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

#include "topology/sources/host/this_machine.hpp"
#include "topology/sources/job/job_tree.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {

namespace {

Status check_rank_count(int rank_count) {
    if (rank_count >= 0 && rank_count <= max_tree_ranks) return {};
    return {Code::invalid_argument,
            fmt::format("ranks is {}; allowed are 0 to {}", rank_count, max_tree_ranks)};
}

/// Rank `rank` of those that would be on this host.
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

/// All of one host, rank i with paths[i].
Result<DiscoveredTree> from_paths(const WrittenSource& source, const std::vector<HostPath>& paths) {
    JobHost host;
    host.name = paths.front().host_name;
    for (const HostPath& path : paths) {
        const int rank = static_cast<int>(host.ranks.size());
        host.ranks.push_back({rank, rank, path});
    }
    return tree_of_job(source, std::span(&host, 1), std::nullopt, {});
}

Result<DiscoveredTree> on_this_machine(const WrittenSource& source, int rank_count) {
    const auto cores = this_machine_core_paths();
    if (!cores.ok()) return cores.status();
    const auto whole = this_machine_path();
    if (!whole.ok()) return whole.status();
    std::vector<HostPath> paths;
    for (int rank = 0; rank < rank_count; ++rank)
        paths.push_back(placed(*cores, *whole, rank, rank_count));
    auto tree = from_paths(source, paths);
    if (tree.ok()) tree->origin = assumption(cores->size(), rank_count);
    return tree;
}

Result<DiscoveredTree> on_described_machine(const WrittenSource& source, int rank_count) {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    HostPath path;
    path.host_name = name;
    auto tree = from_paths(source, std::vector(static_cast<std::size_t>(rank_count), path));
    if (tree.ok())
        tree->origin =
            fmt::format("{}; assumed: all {} ranks on this host, dealt to its {}s in order",
                        source.origin, rank_count, source.inside.place_name());
    return tree;
}

}  // namespace

Result<DiscoveredTree> foreseen_tree(const std::string& written, int rank_count) {
    GRADCOLL_TRY(check_rank_count(rank_count));
    auto source = written_source(written);
    if (source.ok()) source = resolved(std::move(*source));
    if (!source.ok()) return source.status();
    if (source->form != SourceForm::machine) return whole_tree(*source, rank_count);
    const int wanted = rank_count > 0 ? rank_count : 1;
    return source->inside.form == InsideSource::Form::hwloc ? on_this_machine(*source, wanted)
                                                            : on_described_machine(*source, wanted);
}

}  // namespace gradcoll
