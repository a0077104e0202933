// fabric/slurm/slurm.hpp - reads switches from the three places where SLURM describes
// them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "fabric/fabric.hpp"
#include "fabric/host_list.hpp"

namespace gradcoll {

/// A SlurmAddress is what the job environment of one host says (values differ from host to host).
struct SlurmAddress {
    std::string host_name;  ///< as the host calls itself
    std::string address;    ///< SLURM_TOPOLOGY_ADDR: "root.s[4-7].node12"
    std::string pattern;    ///< SLURM_TOPOLOGY_ADDR_PATTERN: "switch.switch.node"
};
/// Builds a rooted fabric. A level without a switch for a host (an unbalanced tree) is skipped; the
/// switches of a bracketed level are one virtual switch, and two such groups that share a member
/// are one. Hosts without an address, or with no switch in it, are left out. Errors:
/// invalid_argument naming the host, its address and what is allowed. Source: SLURM's man page of
/// sbatch (output environment variables) and its plugins' behaviour.
Result<Fabric> fabric_from_slurm_addresses(std::span<const SlurmAddress> hosts);

/// Read topology.conf (tree, block, ring), what `scontrol show topology` prints, and topology.yaml
/// (tree, block, ring, torus3d, flat), also as NVIDIA's topograph writes them, into a rooted
/// fabric. A ring or a torus is taken as one switch. If a topology.yaml has several topologies,
/// the cluster's default is read, or, if that is flat, the first that has switches. A file that
/// mentions hosts without naming them (Nodes=ALL, flat) gives a fabric without hosts. `text` is not
/// trusted. Errors: invalid_argument with the line. Source: SLURM's man pages topology.conf(5),
/// topology.yaml(5).
Result<Fabric> fabric_from_slurm_conf(std::string_view text);
Result<Fabric> fabric_from_slurm_yaml(std::string_view text);

}  // namespace gradcoll
