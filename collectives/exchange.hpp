// collectives/exchange.hpp - in which rounds the branches of one vertex swap parts. Knows branches
// and parts by number only: ranges and ranks are put in by flexreduce.
#pragma once

#include <vector>

#include "collectives/plan.hpp"

namespace gradcoll {

/// "Part `part` of every interval, between us and the interval's owner in branch `branch`."
struct Hop {
    int branch = 0;
    int part = 0;
    friend bool operator==(const Hop&, const Hop&) = default;
};

/// What one branch does at the same time. A round's sends may need the receives of the rounds
/// before it.
struct Round {
    std::vector<Hop> sends;
    std::vector<Hop> recvs;
};

/// Rounds of the reduce-scatter for `branch` of `degree`: afterwards it holds the sum of part
/// `branch`. What is received for a part is added to what the branch holds of it; what is sent for
/// a part is what it holds then.
std::vector<Round> reduce_scatter_rounds(Exchange exchange, int degree, int branch);

/// Rounds of the allgather: from part `branch` alone to all parts.
std::vector<Round> allgather_rounds(Exchange exchange, int degree, int branch);

/// Two ranks meet at one vertex only, the lowest above both: phase and round number their messages.
/// Reduce-scatter round r is stage 2r, allgather round r is stage 2r + 1.
inline constexpr int stages_per_round = 2;

int round_count(Exchange exchange, int degree);

}  // namespace gradcoll
