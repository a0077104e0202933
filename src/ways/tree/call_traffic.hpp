// ways/tree/call_traffic.hpp - what one call puts on the links of its tree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "report/link_use.hpp"

namespace gradcoll {

/// Returns what all ranks together put on links: counted from their plans, or by formula if there
/// are many ranks. Returns null if neither can be had in little time. Pure.
std::shared_ptr<const TreeTraffic> traffic_of_call(const Tree& tree, const PlanSpec& spec);

/// Returns what the rank of `plan` sends, headers included, by the kind of vertex where its way
/// turns; with codecs of variable rate this is a bound. Pure.
SentByKind sent_by_kind(const Tree& tree, const Plan& plan);

/// Returns what the rank of `plan` sends and gets over those links on its way to the root whose
/// bandwidth is known, the lowest first. Bytes are counted as in sent_by_kind(). Pure.
std::vector<OwnLink> own_links(const Tree& tree, const Plan& plan);

/// Returns the first lossy codec of the call, from the root down; exact if it has none.
CodecId lossy_codec_of(const Tree& tree, const PlanSpec& spec);

}  // namespace gradcoll
