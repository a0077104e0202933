// topology/sources/host/this_machine.hpp - what the calling process sees of the machine that it
// runs on.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/host/gpu_places.hpp"
#include "topology/sources/job_host.hpp"

namespace gradcoll {

/// Where the calling process is bound, on this machine (or on the one that HWLOC_XMLFILE /
/// HWLOC_SYNTHETIC show). Bound to several objects: down to the smallest that covers them; not
/// bound: as far as the whole machine is one object. Errors: io, out_of_memory with hwloc's reason.
Result<HostPath> this_rank_path();

/// Without facts if hwloc failed, or shows another machine than this one.
MachineFacts this_machine_facts();

/// What the calling process tells of the GPU that it uses; `bus_id` as PciAddress reads it. Only
/// this looks for devices at all: a process without a GPU does not pay for it. Asks NVIDIA's driver
/// for links between GPUs if this host shows several of NVIDIA. Without a path where hwloc does not
/// show that GPU. Thread safe. Never fails.
RankGpu this_rank_gpu(std::string_view bus_id);

/// Down to each core of this machine in order: where ranks would be that are bound one to a core.
/// Errors: as above.
Result<std::vector<HostPath>> this_machine_core_paths();
/// This machine as a whole: where a rank is that is bound nowhere. Errors: as above.
Result<HostPath> this_machine_path();

}  // namespace gradcoll
