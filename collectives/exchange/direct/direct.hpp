// collectives/exchange/direct/direct.hpp - direct exchange: all pairs of branches at once, one
// round. Fewest steps; what a vertex of few branches, or short messages, want.
#pragma once

#include <vector>

#include "collectives/exchange/round.hpp"

namespace gradcoll::direct {

std::vector<Round> reduce_scatter_rounds(int degree, int branch);
std::vector<Round> allgather_rounds(int degree, int branch);

}  // namespace gradcoll::direct
