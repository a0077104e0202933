// tests/topology/fabric_outline.hpp - writes a switch tree as golden text: one line for each
// switch, indented, with its uplink and its hosts.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fabric/host_list.hpp"
#include "fabric/switch_tree.hpp"

namespace gradcoll::test {

inline std::string outline_of(const Uplink& uplink) {
    std::string out;
    if (uplink.bandwidth_gbytes_per_s > 0)
        out += fmt::format(", {:.4g} GB/s", uplink.bandwidth_gbytes_per_s);
    if (uplink.latency_us > 0) out += fmt::format(", {:.4g} us", uplink.latency_us);
    return out;
}

/// `hosts` are the names of hosts by switch, then by the text of their links.
inline std::string outline_of(
    const SwitchTree& tree,
    const std::vector<std::map<std::string, std::vector<std::string>>>& hosts, int id, int depth) {
    const SwitchTree::Switch& place = tree.switches[static_cast<std::size_t>(id)];
    const std::string indent(2 * static_cast<std::size_t>(depth), ' ');
    std::string out = fmt::format("{}{}{}\n", indent, place.name.empty() ? "(added)" : place.name,
                                  outline_of(place.uplink));
    for (const auto& [link, names] : hosts[static_cast<std::size_t>(id)])
        out += fmt::format("{}  {} hosts{}: {}\n", indent, names.size(), link, host_list_of(names));
    for (std::size_t child = 0; child < tree.switches.size(); ++child)
        if (tree.switches[child].parent == id)
            out += outline_of(tree, hosts, static_cast<int>(child), depth + 1);
    return out;
}

inline std::string outline_of(const SwitchTree& tree) {
    std::vector<std::map<std::string, std::vector<std::string>>> hosts(tree.switches.size());
    for (const auto& [name, host] : tree.hosts)
        hosts[static_cast<std::size_t>(host.at)][outline_of(host.uplink)].push_back(name);
    for (auto& by_link : hosts)
        for (auto& [link, names] : by_link) std::sort(names.begin(), names.end());
    std::string out = outline_of(tree, hosts, 0, 0);
    for (const std::string& note : tree.notes) out += "note: " + note + "\n";
    return out;
}

}  // namespace gradcoll::test
