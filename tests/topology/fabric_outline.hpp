// tests/topology/fabric_outline.hpp - finds a format of fabrics by its name, and writes a switch
// tree as golden text: one line for each switch, indented, with its uplink and its hosts.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/formats.hpp"
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

inline const FabricFormat& fabric_format(std::string_view name) {
    const auto& all = fabric_formats();
    const auto format = std::find_if(all.begin(), all.end(),
                                     [&](const FabricFormat& row) { return row.name == name; });
    if (format == all.end()) throw std::out_of_range("no format " + std::string(name));
    return *format;
}

}  // namespace gradcoll::test
