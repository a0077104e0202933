// collectives/exchange/direct/direct.cpp - direct exchange: all pairs of branches at once, one
// round. Fewest steps; what a vertex of few branches, or short messages, want.
#include "collectives/exchange/rounds.hpp"

namespace gradcoll::direct {

std::vector<Round> reduce_scatter_rounds(int degree, int branch) {
    Round round;
    for (int other = 0; other < degree; ++other) {
        if (other == branch) continue;
        round.sends.push_back({other, {other}});
        round.recvs.push_back({other, {branch}});
    }
    return {round};
}

}  // namespace gradcoll::direct
