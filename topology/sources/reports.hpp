// topology/sources/reports.hpp - what ranks tell rank 0 about themselves, and the tree that rank 0
// makes of it. Calls no MPI.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.hpp"
#include "topology/sources/discover.hpp"
#include "topology/sources/host.hpp"
#include "topology/sources/written.hpp"

namespace gradcoll {

struct RankReport {
    std::uint32_t first_on_host = 0;  ///< the lowest rank that shares memory with it: stands for
                                      ///< the host, whose name may be that of another host, too
    HostPath path;
    std::string trouble;  ///< why `path` has no objects, if hwloc failed there
};

std::string report_bytes(const RankReport& report);

/// True if the tree of `form` is made of what the ranks report.
bool needs_reports(SourceForm form);

/// `reports[r]` are the bytes of rank r; they are not trusted. Hosts are in the order of their
/// lowest rank. A rank whose hwloc failed is a leaf right below its host, and `origin` says so.
/// Errors: corrupt naming the rank; what host_from_description() and the hosts file say, with the
/// host's name.
Result<DiscoveredTree> tree_from_reports(const WrittenSource& source,
                                         std::span<const std::string> reports);

}  // namespace gradcoll
