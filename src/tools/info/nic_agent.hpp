// info/nic_agent.hpp - the NIC agent of this host and user: whether it runs, and its state.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gradcoll::info {

/// Returns some lines for people.
std::string nic_agent_text();
/// Returns what `gc_nicd --status` prints; without an agent an object that says why.
nlohmann::ordered_json nic_agent_json();

}  // namespace gradcoll::info
