// topology/sources/job/probe_request.hpp - what rank 0 tells the ranks that measure. Calls no MPI.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/cluster/probe.hpp"

namespace gradcoll {

/// A ProbeRequest is what a probe needs on all ranks.
struct ProbeRequest {
    std::string cache_file;        ///< as in ProbeOptions
    std::string job;               ///< as in ProbeOptions
    std::vector<ProbeHost> hosts;  ///< ordered by lowest rank, from rank 0 on; empty: there is
                                   ///< nothing to measure
};

std::string probe_request_bytes(const ProbeRequest& request);
/// Reads a request. The bytes are not trusted; ranks are below `rank_count`. A request that is read
/// without error can be measured (see probe_switches()). Errors: corrupt.
Result<ProbeRequest> probe_request_from(std::string_view bytes, int rank_count);

}  // namespace gradcoll
