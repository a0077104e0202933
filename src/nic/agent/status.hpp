// nic/agent/status.hpp - what an agent says when it is asked how it is; docs/nic.md says what each
// figure means.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nic/agent/counters.hpp"

namespace gradcoll {

struct GroupFacts {
    std::size_t ranks = 0;
    std::size_t ranks_here = 0;
    std::size_t hosts = 0;
    std::size_t links = 0;
};

struct AgentFacts {
    double uptime_s = 0;
    unsigned port = 0;
    AgentCounters counters;
    std::vector<GroupFacts> groups;
};

std::string json_of(const AgentFacts& facts);

}  // namespace gradcoll
