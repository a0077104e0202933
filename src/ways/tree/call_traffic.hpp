// ways/tree/call_traffic.hpp - what one call puts on the links of its tree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "report/link_use.hpp"

namespace gradcoll {

/// Of all ranks together: counted from their plans, or by formula where they are many. Null where
/// neither is known in little time. Pure.
std::shared_ptr<const TreeTraffic> traffic_of_call(const Tree& tree, const PlanSpec& spec);

/// What the rank of `plan` sends, headers included; with codecs of variable rate a bound. Pure.
SentByKind sent_by_kind(const Tree& tree, const Plan& plan);

/// What the rank of `plan` sends and gets over the links on its way to the root whose bandwidth is
/// known, the lowest first. Bytes as of sent_by_kind(). Pure.
std::vector<OwnLink> own_links(const Tree& tree, const Plan& plan);

/// The first lossy codec of the call, from the root down; exact: it has none.
CodecId lossy_codec_of(const Tree& tree, const PlanSpec& spec);

}  // namespace gradcoll
