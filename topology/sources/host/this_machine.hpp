// topology/sources/host/this_machine.hpp - what the calling process sees of the machine that it
// runs on.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/host/gpu_places.hpp"
#include "topology/sources/job_host.hpp"

namespace gradcoll {

/// Returns where the calling process is bound, on this machine (or on the one that HWLOC_XMLFILE /
/// HWLOC_SYNTHETIC show). If it is bound to several objects, the path leads down to the smallest
/// that covers them; without a binding, as far as the whole machine is one object. Errors: io,
/// out_of_memory with hwloc's reason.
Result<HostPath> this_rank_path();

/// Returns no facts if hwloc failed, or shows another machine than this one.
MachineFacts this_machine_facts();

/// Returns what the calling process knows of the GPU that it uses; `bus_id` as PciAddress reads it.
/// Only this call looks for devices at all: a process without a GPU does not pay for it. It asks
/// NVIDIA's driver for links between GPUs if this host shows several of NVIDIA. The path is empty
/// if hwloc does not show that GPU. Thread safe. Never fails.
RankGpu this_rank_gpu(std::string_view bus_id);

/// Returns the path down to each core of this machine in order: the places of ranks that are bound
/// one to a core. Errors: as this_rank_path().
Result<std::vector<HostPath>> this_machine_core_paths();
/// Returns this machine as a whole: the place of a rank that is not bound. Errors: as
/// this_rank_path().
Result<HostPath> this_machine_path();

}  // namespace gradcoll
