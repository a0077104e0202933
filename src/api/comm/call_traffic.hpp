// api/comm/call_traffic.hpp - what one call puts on the links of its tree.
#pragma once

#include <memory>

#include "collectives/plan/plan.hpp"
#include "report/snapshot.hpp"

namespace gradcoll {

/// Of all ranks together: counted from their plans, or by formula where they are many. Null where
/// neither is known in little time. Pure.
std::shared_ptr<const TreeTraffic> traffic_of_call(const Tree& tree, const PlanSpec& spec);

}  // namespace gradcoll
