// collectives/exchange/ring/ring.hpp - ring exchange: degree - 1 rounds, always from a branch to
// the next one. One message in and one out a round: no branch is hit by several senders at once.
// Source: Patarasuk & Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// JPDC 2009.
#pragma once

#include <vector>

#include "collectives/exchange/round.hpp"

namespace gradcoll::ring {

/// Part p starts at branch p + 1 and collects one contribution a round until it reaches branch p.
std::vector<Round> reduce_scatter_rounds(int degree, int branch);
/// Part p starts at branch p and is passed on until all have it.
std::vector<Round> allgather_rounds(int degree, int branch);

}  // namespace gradcoll::ring
