// engine/circle.hpp - whom a rank of an engine tells what it has ready, and who tells it.
#pragma once

#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// A Member tells this rank what it has: a rank, for itself or for all ranks of its host.
struct Member {
    int rank = 0;
    int stands_for = 1;  ///< how many ranks
};

/// A Circle is told upwards of ready gradients and downwards of verdicts; rank 0 is at the top.
struct Circle {
    int parent = -1;              ///< rank 0 has none
    std::vector<Member> members;  ///< this rank first; more only if others tell this one

    bool gathers() const { return members.size() > 1; }
    bool coordinates() const { return parent < 0; }
};

/// Returns the circle in which every rank tells rank 0.
Circle flat_circle(int rank, int rank_count);

/// Returns the circle in which every rank tells the lowest rank of its host, and these tell rank 0.
/// It is the flat one if the tree knows of no hosts.
Circle circle_of_hosts(const Tree& tree, int rank);

}  // namespace gradcoll
