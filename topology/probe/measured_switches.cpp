// topology/probe/measured_switches.cpp - finds the structure first, then what its links carry.
#include "topology/probe/measured_switches.hpp"

#include <fmt/format.h>

#include <numeric>

#include "topology/probe/steps.hpp"

namespace gradcoll {

namespace {

constexpr int few_hosts = 8;
constexpr int few_hosts_for_bulk = 64;  ///< at most so many hosts are all measured against each
                                        ///< other

Result<int> found_root(Branches& branches, Figures& figures) {
    const bool quick = figures.effort() == ProbeEffort::quick;
    if (figures.host_count() > (quick ? few_hosts_for_bulk : few_hosts)) {
        const Result<int> root = merged_by_latency(branches, figures);
        if (root.ok()) GRADCOLL_TRY(split(branches, figures, Signal::bulk, *root));
        return root;
    }
    std::vector<int> hosts(static_cast<std::size_t>(figures.host_count()));
    std::iota(hosts.begin(), hosts.end(), 0);
    const int root = branches.above(std::move(hosts));
    GRADCOLL_TRY(split(branches, figures, Signal::bulk, root));
    if (!quick) GRADCOLL_TRY(split(branches, figures, Signal::latency, root));
    return root;
}

/// Makes the tree of switches, numbered level by level.
SwitchTree switches_from(const Branches& branches, int root, const std::vector<Uplink>& uplinks,
                         std::span<const std::string> host_names) {
    SwitchTree tree;
    tree.switches.push_back({"probed0", -1, {}});
    std::vector<int> nodes{root};  // by switch
    for (std::size_t at = 0; at < nodes.size(); ++at)
        for (const int child : branches.parts(nodes[at])) {
            const Uplink uplink = uplinks[static_cast<std::size_t>(child)];
            if (branches.is_host(child)) {
                tree.hosts[host_names[static_cast<std::size_t>(child)]] = {static_cast<int>(at),
                                                                           uplink};
                continue;
            }
            tree.switches.push_back(
                {fmt::format("probed{}", nodes.size()), static_cast<int>(at), uplink});
            nodes.push_back(child);
        }
    return tree;
}

}  // namespace

Result<MeasuredTree> measured_switches(Ruler& ruler, std::span<const std::string> host_names,
                                       ProbeEffort effort) {
    const auto count = static_cast<int>(host_names.size());
    Figures figures(ruler, count, effort);
    Branches branches(count);
    const int root = GRADCOLL_VALUE(found_root(branches, figures));
    std::vector<Uplink> uplinks =
        GRADCOLL_VALUE(measured_uplinks(branches, figures, root, branches.node_count()));
    SwitchTree tree = switches_from(branches, root, uplinks, host_names);
    tree.notes.push_back(
        fmt::format("probe: {} hosts measured in {} rounds", count, figures.rounds()));
    if (figures.spent())
        tree.notes.emplace_back(
            "probe: the time for measuring was over before all was measured; what was not is side "
            "by "
            "side");
    return MeasuredTree{std::move(tree), figures.has_disturbed()};
}

}  // namespace gradcoll
