// topology/sources/job_host.hpp - a host of a job as its ranks report it, which is what the sources
// of trees see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "topology/vertex.hpp"

namespace gradcoll {

/// A HostPath says where one rank is inside its host, as it found itself: the objects from the
/// machine down to the smallest one that holds the rank's binding (package, NUMA node, L3, core; in
/// described hosts bridge and GPU where a GPU is near), or down to the GPU that it uses.
struct HostPath {
    std::string host_name;
    struct Object {
        VertexKind kind;
        std::uint32_t index;  ///< lowest PU of the object, NUMA number or PCI address: ranks that
                              ///< name the same object agree, even if cgroups show each of them
                              ///< other parts of the host
        std::string name;
        Uplink uplink = {};  ///< link to the object above
    };
    std::vector<Object> objects;  ///< outermost first; without the host itself
};

/// MachineFacts says what is odd about this machine, as the calling process sees it.
struct MachineFacts {
    std::uint32_t cores = 0;  ///< cores that hwloc shows (PUs if it shows no core); 0: not known
    std::uint32_t hidden_cpus = 0;  ///< CPUs that the system has and hwloc does not show
    bool shapeless = false;         ///< more than two cores, and neither packages nor caches
    std::string unbound_over;       ///< "2 packages" if the process is bound to none of these
};

/// A JobHost is a host of the job.
struct JobHost {
    struct Rank {
        int rank = 0;        ///< in the communicator: a leaf of the tree
        int world_rank = 0;  ///< in MPI_COMM_WORLD; -1: it is not there
        HostPath path;       ///< down to its binding or to its GPU; used only if hwloc says how the
                             ///< inside looks
        std::string gpu = {};  ///< PCI address of the GPU that it uses; empty: none, or not known
    };
    std::string name;
    std::vector<Rank> ranks;    ///< ascending, at least one
    std::string slurm_address;  ///< SLURM_TOPOLOGY_ADDR of its lowest rank; empty: none
    std::string slurm_pattern;
    bool addresses_differ = false;  ///< another rank of it has another address
    MachineFacts facts;             ///< what its lowest rank sees
    std::string unbound_over;       ///< see MachineFacts; for the first unbound rank
    std::size_t unbound_count = 0;  ///< ranks that are bound to no part of it
};

}  // namespace gradcoll
