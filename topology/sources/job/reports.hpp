// topology/sources/job/reports.hpp - what ranks report to rank 0 about themselves, and the hosts
// that rank 0 makes of it. Calls no MPI.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/host/gpu_places.hpp"
#include "topology/sources/job_host.hpp"

namespace gradcoll {

struct RankReport {
    std::uint32_t first_on_host = 0;  ///< the lowest rank that shares memory with it; it stands for
                                      ///< the host, since another host may have the same name
    HostPath path;
    std::string trouble = {};        ///< why `path` has no objects, if hwloc failed there
    int world_rank = -1;             ///< -1: not in MPI_COMM_WORLD
    std::string slurm_address = {};  ///< from its environment, see SlurmAddress; at most 64 KiB
    std::string slurm_pattern = {};
    MachineFacts facts = {};
    RankGpu gpu = {};  ///< the GPU that it uses, if any
};

/// Writes a report. Names longer than max_name_bytes are cut; longer addresses are left out.
std::string report_bytes(const RankReport& report);
/// Reads a report. The bytes are not trusted; `rank_count` ranks may report. Errors: corrupt.
Result<RankReport> report_from(std::string_view bytes, std::size_t rank_count);

/// Returns the hosts, in the order of their lowest rank. `reports[r]` are the bytes of rank r; they
/// are not trusted. Paths of ranks that use a GPU end there (see place_on_gpus()). `notes` get the
/// ranks whose hwloc failed, each a leaf right below its host, and notes on links between GPUs.
/// Errors: corrupt naming the rank.
Result<std::vector<JobHost>> hosts_of_reports(std::span<const std::string> reports,
                                              std::vector<std::string>& notes);

/// Turn a path into bytes for another rank, and back; the bytes are not trusted. Errors: corrupt.
std::string host_path_bytes(const HostPath& path);
Result<HostPath> host_path_from(std::string_view bytes);

}  // namespace gradcoll
