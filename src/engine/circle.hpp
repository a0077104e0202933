// engine/circle.hpp - whom a rank of an engine tells what it has ready, and who tells it.
#pragma once

#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// Of those who tell this rank what they have: a rank, for itself or for all ranks of its host.
struct Member {
    int rank = 0;
    int stands_for = 1;  ///< ranks
};

/// Ready gradients are told upwards, verdicts downwards; rank 0 is at the top.
struct Circle {
    int parent = -1;              ///< rank 0 has none
    std::vector<Member> members;  ///< this rank first; more only if others tell this one

    bool gathers() const { return members.size() > 1; }
    bool coordinates() const { return parent < 0; }
};

/// Every rank tells rank 0.
Circle flat_circle(int rank, int rank_count);

/// Every rank tells the lowest rank of its host, and these tell rank 0. Where the tree knows of no
/// hosts it is the flat one.
Circle circle_of_hosts(const Tree& tree, int rank);

}  // namespace gradcoll
