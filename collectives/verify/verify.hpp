// collectives/verify/verify.hpp - proves properties of all ranks' plans together, without data.
#pragma once

#include <span>

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Verifies all plans; `plans[r]` is rank r's. They are right if sends and receives match one to
/// one (stage, bytes, codec); following the contributions symbolically, every rank's output ends
/// with every rank's contribution to every element exactly once; every element has one owner after
/// the reduce-scatter phase; no step reads what was not written or overwrites what is still being
/// read; no slot lies outside the scratch; the graph over all ranks has no cycle (so no deadlock
/// under any message order, all messages being asynchronous); all ranks' outputs come from the same
/// encoding; nothing is encoded twice on the way down; the encodings that an element's error adds
/// up take no more parts of what a call may lose than Plan::loss_parts says. Sizes are right if
/// every slot has room for the most that its elements can take with its codec, pieces of an
/// encoding are cut between blocks only, and both ends of a message count the same elements. What
/// codecs of variable rate really write is checked when it arrives (compress/README.md). Errors:
/// internal, naming the rank, the step and the property.
Status verify(const Tree& tree, std::span<const Plan> plans);

/// Proves what can be proved of one plan without the others: its steps are well formed, no slot or
/// range lies outside, every step waits for those that use the same memory. Errors: internal.
Status verify_alone(const Plan& plan);

/// Checks that the messages between two ranks match, both ways. Needs plans that verify_alone()
/// accepts. Errors: internal.
Status verify_messages(const Plan& a, const Plan& b);

}  // namespace gradcoll
