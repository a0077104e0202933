// topology/sources/host/host.hpp - the part of a tree inside one host, from hwloc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/sources/host/gpu_links.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Where one rank is inside its host, as it found itself: the objects from the machine down to the
/// smallest one that holds the rank's binding (package, NUMA node, L3, core; in described hosts
/// bridge and GPU where a GPU is near), or down to the GPU that it uses.
struct HostPath {
    std::string host_name;
    struct Object {
        VertexKind kind;
        std::uint32_t index;  ///< lowest PU of the object, NUMA number or PCI address: ranks that
                              ///< name the same object agree, also when cgroups show each of them
                              ///< other parts of the host
        std::string name;
        Uplink uplink = {};  ///< to the object above
    };
    std::vector<Object> objects;  ///< outermost first; without the host itself
};

/// The GPU that a rank uses, as the rank sees it.
struct RankGpu {
    std::string bus_id;                  ///< as PciAddress::text() writes it; empty: it uses none
    std::vector<HostPath::Object> path;  ///< from the machine down to the GPU, which is the last;
                                         ///< empty: hwloc does not show it
    std::vector<GpuLink> links;          ///< to other GPUs of the host, named by their bus_id
};

/// Where the calling process is bound, on this machine (or on the one that HWLOC_XMLFILE /
/// HWLOC_SYNTHETIC show). Bound to several objects: down to the smallest that covers them; not
/// bound: as far as the whole machine is one object. Errors: io, out_of_memory with hwloc's reason.
Result<HostPath> this_rank_host_path();

/// What is odd about this machine, as the calling process sees it.
struct HostFacts {
    std::uint32_t cores = 0;        ///< that hwloc shows (PUs where it shows no core); 0: not known
    std::uint32_t hidden_cpus = 0;  ///< that the system has and hwloc does not show
    bool shapeless = false;         ///< more than two cores, and neither packages nor caches
    std::string unbound_over;       ///< "2 packages" if the process is bound to none of these
};
/// Without facts if hwloc failed, or shows another machine than this one.
HostFacts this_host_facts();

/// What the calling process tells of the GPU that it uses; `bus_id` as PciAddress reads it. Only
/// this looks for devices at all: a process without a GPU does not pay for it. Asks NVIDIA's driver
/// for links between GPUs if this host shows several of NVIDIA. Without a path where hwloc does not
/// show that GPU. Thread safe. Never fails.
RankGpu this_rank_gpu(std::string_view bus_id);

/// Down to each core of this machine in order: where ranks would be that are bound one to a core.
/// Errors: as above.
Result<std::vector<HostPath>> this_host_core_paths();
/// This machine as a whole: where a rank is that is bound nowhere. Errors: as above.
Result<HostPath> this_host_path();

/// The cores of a described host in order (the PUs where no core is described), at least one:
/// `description` is an hwloc synthetic string ("pack:2 core:4 pu:1") or the path of an hwloc XML
/// file (it ends in .xml, holds a slash, or names a file that is there). Errors:
/// invalid_argument/io naming the file or the string and hwloc's reason.
Result<std::vector<HostPath>> described_cores(std::string_view description);
Result<std::vector<HostPath>> cores_from_synthetic(std::string_view description);
Result<std::vector<HostPath>> cores_from_xml(std::string_view path);

/// The GPUs of a host, by PCI address, for ranks to be dealt to; its cores if the description shows
/// no GPU. `notes` say so, and where links join GPUs but not each with each. `description` and
/// errors as described_cores().
Result<std::vector<HostPath>> described_gpus(std::string_view description,
                                             std::vector<std::string>& notes);

/// `ranks` dealt one each to `cores` in order, round robin when there are more. Needs a core and a
/// rank.
TreeSpec dealt_host(const std::string& host_name, std::span<const HostPath> cores,
                    std::span<const int> ranks);

/// Both in one, under the name that the description gives. Errors: as above; invalid_argument if
/// there are no ranks.
Result<TreeSpec> host_from_description(std::string_view description, std::span<const int> ranks);

/// Merges the paths of the ranks of one host to its subtree (not yet collapsed). Branches are in
/// the order of their first rank; every rank is a leaf of its own, also when several name the same
/// object. The only rank at a GPU is a leaf of kind gpu, under the GPU's name. Needs paths.size()
/// == ranks.size() > 0.
TreeSpec merge_host(const std::string& host_name, std::span<const HostPath> paths,
                    std::span<const int> ranks);

/// A path as bytes for another rank, and back; the bytes are not trusted. Errors: corrupt.
std::string host_path_bytes(const HostPath& path);
Result<HostPath> host_path_from(std::string_view bytes);

}  // namespace gradcoll
