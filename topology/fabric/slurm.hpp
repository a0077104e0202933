// topology/fabric/slurm.hpp - SLURM's three ways to tell the switches, and its host lists.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "topology/fabric/fabric.hpp"

namespace gradcoll {

/// "tux[0-15,20],login,r[1-2]n[01-08]" to its names, in order; leading zeros are kept. Errors:
/// invalid_argument with the column; more than `max_names` names.
Result<std::vector<std::string>> names_of_host_list(std::string_view list,
                                                    std::size_t max_names = 1 << 20);
/// The shortest list for names, in their order: "s[4-7]".
std::string host_list_of(std::span<const std::string> names);

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
