// collectives/exchange/rounds.hpp - what one branch of a vertex sends and receives at the same
// time, and the exchanges that consist of such rounds, a folder each. Knows branches and parts by
// number only. What the functions promise: reduce_scatter_rounds() and allgather_rounds() of
// exchange.hpp.
#pragma once

#include <vector>

namespace gradcoll {

/// "These parts of every interval, between us and the interval's owner in branch `branch`": one
/// message a peer and round.
struct Hop {
    int branch = 0;
    std::vector<int> parts;  ///< each once, in any order
    friend bool operator==(const Hop&, const Hop&) = default;
};

/// What one branch does at the same time. A round's sends may need the receives of the rounds
/// before it.
struct Round {
    std::vector<Hop> sends;
    std::vector<Hop> recvs;
};

namespace direct {
std::vector<Round> reduce_scatter_rounds(int degree, int branch);
}  // namespace direct

namespace ring {
std::vector<Round> reduce_scatter_rounds(int degree, int branch);
std::vector<Round> allgather_rounds(int degree, int branch);
}  // namespace ring

namespace recursive {
std::vector<Round> reduce_scatter_rounds(int degree, int branch);
int round_count(int degree);
}  // namespace recursive

}  // namespace gradcoll
