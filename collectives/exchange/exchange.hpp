// collectives/exchange/exchange.hpp - in which rounds the branches of one vertex swap parts. Knows
// branches and parts by number only: ranges and ranks are put in by flexreduce. (A single exchange
// has no parts: see single/.)
#pragma once

#include <vector>

#include "collectives/exchange/rounds.hpp"
#include "collectives/plan/plan.hpp"

namespace gradcoll {

/// Rounds of the reduce-scatter for `branch` of `degree`: afterwards it holds the sum of part
/// `branch`. What is received for a part is added to what the branch holds of it; what is sent for
/// a part is what it holds then. Needs direct, ring or recursive.
std::vector<Round> reduce_scatter_rounds(Exchange exchange, int degree, int branch);

/// Rounds of the allgather: from part `branch` alone to all parts. Needs the same.
std::vector<Round> allgather_rounds(Exchange exchange, int degree, int branch);

/// Two ranks meet at one vertex only, the lowest above both: phase and round number their messages.
/// Reduce-scatter round r is stage 2r, allgather round r is stage 2r + 1.
inline constexpr int stages_per_round = 2;

/// On the way up; none at a merged vertex.
int round_count(Exchange exchange, int degree);
/// The same on the way down: none after a single exchange.
int rounds_down(Exchange exchange, int degree);

/// How many branches send to one at the same time.
int senders_at_once(Exchange exchange, int degree);

}  // namespace gradcoll
