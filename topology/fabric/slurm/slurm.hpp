// topology/fabric/slurm/slurm.hpp - SLURM's three ways to tell the switches.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/fabric.hpp"
#include "topology/fabric/host_list.hpp"

namespace gradcoll {

/// What one host's job environment says (values differ from host to host).
struct SlurmAddress {
    std::string host_name;  ///< as the host calls itself
    std::string address;    ///< SLURM_TOPOLOGY_ADDR: "root.s[4-7].node12"
    std::string pattern;    ///< SLURM_TOPOLOGY_ADDR_PATTERN: "switch.switch.node"
};
/// Rooted. A level without a switch for a host (an unbalanced tree) is skipped; the switches of a
/// bracketed level are one virtual switch, also together with another group that shares a member
/// with them. Hosts without an address, or with no switch in it, are left out. Errors:
/// invalid_argument naming the host, its address and what is allowed. Source: SLURM's man page of
/// sbatch (output environment variables) and its plugins' behaviour.
Result<Fabric> fabric_from_slurm_addresses(std::span<const SlurmAddress> hosts);

/// topology.conf (tree, block, ring) and topology.yaml (tree, block, ring, flat), also as NVIDIA's
/// topograph writes them. Rooted. Of several topologies in a topology.yaml the cluster's default is
/// read, but the first that has switches if that one is flat. A file that speaks of hosts without
/// naming them (Nodes=ALL, flat) gives a fabric without hosts. `text` is not trusted. Errors:
/// invalid_argument with the line. Source: SLURM's man pages topology.conf(5), topology.yaml(5).
Result<Fabric> fabric_from_slurm_conf(std::string_view text);
Result<Fabric> fabric_from_slurm_yaml(std::string_view text);

}  // namespace gradcoll
