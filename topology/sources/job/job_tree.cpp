// topology/sources/job/job_tree.cpp - see job_tree.hpp.
#include "topology/sources/job/job_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "topology/derived_trees.hpp"

namespace gradcoll {

namespace {

TreeSpec side_by_side(std::vector<HostSubtree> hosts, double gbytes_per_s) {
    TreeSpec top;
    for (HostSubtree& host : hosts) {
        double& known = host.spec.uplink.bandwidth_gbytes_per_s;
        if (hosts.size() > 1 && known <= 0) known = gbytes_per_s;
        top.children.push_back(std::move(host.spec));
    }
    return top;
}

std::string origin_of(const std::string& written, const Switches& switches, bool one_host) {
    const std::string hosts = written.empty()
                                  ? "discovered: hwloc + shared-memory split"
                                  : written + " on hosts told apart by the shared-memory split";
    const std::string found = switches.origin.empty()
                                  ? hosts
                                  : fmt::format("{}, switches from {}", hosts, switches.origin);
    if (one_host || switches.host_gbytes_per_s <= 0) return found;
    return fmt::format("{}; links {}are taken for {:.3g} GB/s", found,
                       switches.tree ? "of hosts " : "", switches.host_gbytes_per_s);
}

void take_unknown_for(SwitchTree& switches, double host_gbytes_per_s) {
    for (auto& [name, host] : switches.hosts)
        if (host.uplink.bandwidth_gbytes_per_s <= 0)
            host.uplink.bandwidth_gbytes_per_s = host_gbytes_per_s;
}

/// Renames the hosts of a tree by rank: each is found by any of its ranks of MPI_COMM_WORLD, and
/// then named by its lowest rank in the job.
void name_by_own_ranks(SwitchTree& tree, std::span<const JobHost> hosts) {
    std::unordered_map<std::string, SwitchTree::Host> named;
    for (const JobHost& host : hosts)
        for (const JobHost::Rank& rank : host.ranks) {
            const auto found = tree.hosts.find(std::to_string(rank.world_rank));
            if (found == tree.hosts.end()) continue;
            named.emplace(std::to_string(host.ranks.front().rank), found->second);
            break;
        }
    tree.hosts = std::move(named);
}

/// Removes repeated notes, and cuts the list of a source that adds notes without end.
void tidy(std::vector<std::string>& notes) {
    constexpr std::size_t most_notes = 32;
    std::unordered_set<std::string> seen;
    std::erase_if(notes, [&](const std::string& note) { return !seen.insert(note).second; });
    if (notes.size() <= most_notes) return;
    const std::size_t left_out = notes.size() - most_notes;
    notes.resize(most_notes);
    notes.push_back(fmt::format("and {} notes more", left_out));
}

}  // namespace

JobSources::JobSources(const WrittenSource& written) : origin_(written.origin) {
    for (const auto& [row, value] : written.parts)
        members_.push_back({row->part, row->make(value)});
}

Needs JobSources::needs() const {
    Needs all;
    for (const Member& member : members_) {
        Needs needs = member.source->needs();
        all.reports = std::max(all.reports, needs.reports);
        if (!needs.measurement) continue;
        all.measurement = true;
        all.measurement_file = std::move(needs.measurement_file);
    }
    return all;
}

TreeSource* JobSources::source(Part part) const {
    for (const Member& member : members_)
        if (member.part == part) return member.source.get();
    return nullptr;
}

Status JobSources::about(const Status& status) const {
    if (origin_.empty()) return status;
    return {status.code(), fmt::format("{}: {}", origin_, status.message())};
}

Result<DiscoveredTree> JobSources::tree_of(const Job& job, std::vector<std::string> notes) {
    TreeDraft draft;
    draft.notes = std::move(notes);
    note_oddities(job.hosts, draft.notes);
    for (const Member& member : members_)
        if (const Status status = member.source->learn(job, draft); !status.ok())
            return about(status);
    if (draft.whole) return DiscoveredTree{with_slow_branches_apart(*draft.whole), origin_};
    Switches& switches = draft.switches;
    if (switches.tree && switches.tree->by_rank && switches.by_world_rank)
        name_by_own_ranks(*switches.tree, job.hosts);
    Result<Tree> tree = combined_tree(draft);
    if (!tree.ok()) return about(tree.status());
    return DiscoveredTree{with_slow_branches_apart(*tree),
                          origin_of(origin_, switches, job.hosts.size() < 2),
                          std::move(draft.notes)};
}

Result<Tree> combined_tree(TreeDraft& draft) {
    std::optional<SwitchTree>& switches = draft.switches.tree;
    if (!switches) {
        tidy(draft.notes);
        return Tree::make(side_by_side(std::move(draft.insides), draft.switches.host_gbytes_per_s));
    }
    take_unknown_for(*switches, draft.switches.host_gbytes_per_s);
    draft.notes.insert(draft.notes.end(), switches->notes.begin(), switches->notes.end());
    const TreeSpec top = hang_hosts(*switches, std::move(draft.insides), draft.notes);
    tidy(draft.notes);
    return Tree::make(top);
}

}  // namespace gradcoll
