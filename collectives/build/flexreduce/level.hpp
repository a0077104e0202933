// collectives/build/flexreduce/level.hpp - one vertex as a rank below it sees it, and the messages
// of one hop there.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/exchange/exchange.hpp"
#include "collectives/exchange/single/single.hpp"
#include "collectives/plan/partition.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

struct Level {
    int vertex = 0;
    int branch = 0;  ///< the branch of this vertex that the rank is in
    int degree = 0;
    std::uint8_t number = 0;  ///< height of the vertex - 1
    VertexChoice choice;
    const OwnershipMap* map = nullptr;  ///< says which elements the intervals are
    bool framed_down = false;           ///< allgather messages here are the owners' encodings
    std::vector<Interval> intervals;    ///< intervals that the rank owns before this vertex's
                                        ///< reduce-scatter
    std::vector<Range> held;    ///< single exchange only: what the rank holds before and after it
    single::Messages messages;  ///< single exchange only
};

/// Returns the vertices above `rank`, leaves to root. Encodings travel down as far as every level
/// from the root on is lossy: an exact level passes values, and below it nobody has the encoding
/// any more.
std::vector<Level> levels_of(const Tree& tree, const PlanSpec& spec, const OwnershipMap& map,
                             int rank);

/// Returns the messages of one hop, one for each owner in `hop.branch`, without empty ones. Both
/// sides compute the same ranges.
std::vector<Message> messages_of(const Level& level, const Hop& hop);

/// Returns one part of all intervals.
std::vector<Range> ranges_of(const Level& level, int part);

/// Returns what the rank owns alone after the vertex's reduce-scatter (after a single exchange:
/// what it would own after another one).
std::vector<Range> kept_parts(const Level& level);

}  // namespace gradcoll
