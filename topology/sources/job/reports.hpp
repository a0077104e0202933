// topology/sources/job/reports.hpp - what ranks tell rank 0 about themselves, and the hosts that
// follow from it. Calls no MPI.
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
    std::uint32_t first_on_host = 0;  ///< the lowest rank that shares memory with it: stands for
                                      ///< the host, whose name may be that of another host, too
    HostPath path;
    std::string trouble = {};        ///< why `path` has no objects, if hwloc failed there
    int world_rank = -1;             ///< -1: not in MPI_COMM_WORLD
    std::string slurm_address = {};  ///< of its environment, see SlurmAddress; at most 64 KiB
    std::string slurm_pattern = {};
    MachineFacts facts = {};
    RankGpu gpu = {};  ///< that it uses, if any
};

/// Names longer than max_name_bytes are cut; longer addresses count as none.
std::string report_bytes(const RankReport& report);
/// The bytes are not trusted; `rank_count` ranks may report. Errors: corrupt.
Result<RankReport> report_from(std::string_view bytes, std::size_t rank_count);

/// `reports[r]` are the bytes of rank r; they are not trusted. Hosts are in the order of their
/// lowest rank. Paths of ranks that use a GPU end there (see place_on_gpus()). `notes` gets whose
/// hwloc failed: such a rank is a leaf right below its host; and of links between GPUs.
/// Errors: corrupt naming the rank.
Result<std::vector<JobHost>> hosts_of_reports(std::span<const std::string> reports,
                                              std::vector<std::string>& notes);

/// A path as bytes for another rank, and back; the bytes are not trusted. Errors: corrupt.
std::string host_path_bytes(const HostPath& path);
Result<HostPath> host_path_from(std::string_view bytes);

}  // namespace gradcoll
