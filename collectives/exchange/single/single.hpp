// collectives/exchange/single/single.hpp - one message each way and no answer: every owner sends
// all it holds to one holder of the same elements in each other branch, and everybody adds up
// everything in branch order. Afterwards every one of them holds the sum, so the way down needs no
// message here: half the latency of the other exchanges, for degree / 2 times their bytes. This is
// for short vectors.
//
// All holders of an element below the vertex take part: after a single exchange further down they
// are several, one in each branch there, all with the same bits. Branches may have different
// numbers of them: holder i of a branch hears from holder i modulo their number of every other
// branch. Since everybody holds the sum, all vertices above must exchange in this way as well.
// Source: recursive doubling of latency-bound allreduces (Thakur, Rabenseifner, Gropp, IJHPCA 2005)
// with one step a vertex.
#pragma once

#include <span>
#include <vector>

#include "collectives/plan/partition.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/plan/range.hpp"

namespace gradcoll {

namespace single {

/// Messages are those of one rank at one vertex. Each branch's messages together cover the rank's
/// ranges.
struct Messages {
    std::vector<std::vector<Message>> from_branches;  ///< index: branch; empty for the rank's own
    std::vector<Message> sends;                       ///< one for each peer
};

/// Returns the messages. `held` is what `rank` holds before the exchange at `vertex`, which is
/// above it. Time: in proportion to the holders of these ranges below the vertex.
Messages messages_of(const Tree& tree, const VertexChoices& choices, const OwnershipMap& map,
                     int rank, int vertex, std::span<const Range> held);

}  // namespace single
}  // namespace gradcoll
