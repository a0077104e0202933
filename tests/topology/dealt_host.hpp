// tests/topology/dealt_host.hpp - makes hosts whose ranks are dealt to cores, without a job around
// them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/sources/host/described_host.hpp"
#include "topology/sources/host/host_subtree.hpp"

namespace gradcoll {

/// Deals `ranks` one each to `cores` in order, round robin when there are more. Needs a core and a
/// rank.
inline TreeSpec dealt_host(const std::string& host_name, std::span<const HostPath> cores,
                           std::span<const int> ranks) {
    std::vector<HostPath> paths;
    for (std::size_t i = 0; i < ranks.size(); ++i) paths.push_back(cores[i % cores.size()]);
    return merge_host(host_name, paths, ranks);
}

/// Makes a host of the cores of described_cores(), with the name in the description. Errors: those
/// of described_cores(); invalid_argument if there are no ranks.
inline Result<TreeSpec> host_from_description(std::string_view description,
                                              std::span<const int> ranks) {
    std::vector<std::string> notes;
    const Result<std::vector<HostPath>> cores = described_cores(description, notes);
    if (!cores.ok()) return cores.status();
    if (ranks.empty()) return Status(Code::invalid_argument, "a described host has no ranks");
    return dealt_host(cores->front().host_name, *cores, ranks);
}

}  // namespace gradcoll
