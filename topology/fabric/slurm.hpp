// topology/fabric/slurm.hpp - SLURM's three ways to tell the switches.
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
/// A level without a switch for a host (an unbalanced tree) is skipped; a bracketed level is one
/// virtual switch. Errors: invalid_argument naming the host, its address and what is allowed.
Result<Fabric> fabric_from_slurm_addresses(std::span<const SlurmAddress> hosts);

/// topology.conf (tree and block), topology.yaml. Errors: invalid_argument with the line.
Result<Fabric> fabric_from_slurm_conf(std::string_view text);
Result<Fabric> fabric_from_slurm_yaml(std::string_view text);

}  // namespace gradcoll
