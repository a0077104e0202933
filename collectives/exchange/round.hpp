// collectives/exchange/round.hpp - what one branch of a vertex sends and receives at the same time.
// Knows branches and parts by number only.
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

}  // namespace gradcoll
