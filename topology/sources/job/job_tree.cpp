// topology/sources/job/job_tree.cpp - see job_tree.hpp.
#include "topology/sources/job/job_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "topology/sources/cluster/between.hpp"
#include "topology/sources/job/inside.hpp"

namespace gradcoll {

namespace {

TreeSpec side_by_side(std::vector<HostSubtree> hosts) {
    TreeSpec top;
    for (HostSubtree& host : hosts) top.children.push_back(std::move(host.spec));
    return top;
}

std::string origin_of(const WrittenSource& source, const std::string& switches) {
    const std::string hosts =
        source.origin.empty() ? "discovered: hwloc + shared-memory split"
                              : source.origin + " on hosts told apart by the shared-memory split";
    return switches.empty() ? hosts : fmt::format("{}, switches from {}", hosts, switches);
}

/// What the probe found, or what is written.
Result<Switches> all_switches(const WrittenSource& source, std::span<const JobHost> hosts,
                              std::optional<SwitchTree> measured, std::vector<std::string>& notes) {
    if (measured) return Switches{std::move(measured), "measurements"};
    Result<Switches> found = switches_between(source.between, hosts, notes);
    if (found.ok() && found->tree) found->tree = named_by_own_ranks(std::move(*found->tree), hosts);
    return found;
}

/// The same about several hosts is said once; a source that notes without end is cut short.
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

std::vector<int> ranks_of(const JobHost& host) {
    std::vector<int> ranks;
    for (const JobHost::Rank& rank : host.ranks) ranks.push_back(rank.rank);
    return ranks;
}

std::vector<std::string> gpus_of(const JobHost& host) {
    std::vector<std::string> gpus;
    for (const JobHost::Rank& rank : host.ranks) gpus.push_back(rank.gpu);
    return gpus;
}

Status about(const WrittenSource& source, const Status& status) {
    if (source.origin.empty()) return status;
    return {status.code(), fmt::format("{}: {}", source.origin, status.message())};
}

Result<DiscoveredTree> whole_tree(const WrittenSource& source, int rank_count) {
    constexpr int any = -1;
    const bool names_ranks = source.form != SourceForm::flat;
    Result<Tree> tree = written_tree(source, rank_count > 0 ? rank_count : names_ranks ? any : 1);
    if (!tree.ok()) return about(source, tree.status());
    return DiscoveredTree{std::move(*tree), source.origin};
}

Result<Tree> combined_tree(std::vector<HostSubtree> hosts,
                           const std::optional<SwitchTree>& switches,
                           std::vector<std::string>& notes) {
    if (!switches) {
        tidy(notes);
        return Tree::make(side_by_side(std::move(hosts)));
    }
    notes.insert(notes.end(), switches->notes.begin(), switches->notes.end());
    const TreeSpec top = hang_hosts(*switches, std::move(hosts), notes);
    tidy(notes);
    return Tree::make(top);
}

std::string told_origin(const DiscoveredTree& tree) {
    std::string text = tree.origin;
    for (const std::string& note : tree.notes) text += "; " + note;
    return text;
}

Result<DiscoveredTree> tree_of_job(const WrittenSource& source, std::span<const JobHost> hosts,
                                   std::optional<SwitchTree> measured,
                                   std::vector<std::string> notes) {
    note_oddities(hosts, notes);
    Result<Insides> insides = Insides::of(source.inside);
    if (!insides.ok()) return about(source, insides.status());
    Result<std::vector<HostSubtree>> subtrees = insides->subtrees(hosts, notes);
    if (!subtrees.ok()) return about(source, subtrees.status());
    Result<Switches> switches = all_switches(source, hosts, std::move(measured), notes);
    if (!switches.ok()) return about(source, switches.status());
    Result<Tree> tree = combined_tree(std::move(*subtrees), switches->tree, notes);
    if (!tree.ok()) return about(source, tree.status());
    return DiscoveredTree{std::move(*tree), origin_of(source, switches->origin), std::move(notes)};
}

}  // namespace gradcoll
