// collectives/predict/tree_walk.hpp - follows one chunk on its way through the tree, up and back
// down: the longest way from a leaf to the root, and the work of the busiest core. Part of
// forecast_tree().
#pragma once

#include <vector>

#include "collectives/plan/plan.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// TreeWalk walks once, when it is made. Nothing of the tree may be merged (PlannedTree). Keeps
/// references. Time: linear in vertices.
class TreeWalk {
  public:
    TreeWalk(const Tree& tree, const PlanSpec& spec, const Tuning& tuning, double chunk_elems);

    /// Returns the time of the chunk, from a leaf up through all levels and back down.
    const TimeParts& longest_way() const { return below_.front().longest; }
    /// Returns the most that one rank's core works for the chunk.
    double busiest_core_us() const { return below_.front().core_us; }
    const std::vector<LevelForecast>& levels() const { return levels_; }
    /// Returns the working set of the host with the most ranks.
    double largest_working_set_bytes() const;

  private:
    /// Below is what is known of the ranks below a vertex.
    struct Below {
        double most_share = 1;   ///< part of the vector that the leaf owns that owns most
        double least_share = 1;  ///< part of the vector that the leaf owns that owns least
        int host_ranks = 1;      ///< ranks that share the cores with the ranks below
        TimeParts longest;       ///< time of one chunk from a leaf up through the vertex and back
        double core_us = 0;      ///< the most that one rank works, this vertex included
    };
    /// Branches is an exchange as all of its branches together make it.
    struct Branches;

    void count_host_ranks();
    void exchange_at(int vertex);
    void encode_at_root();

    Branches branches_of(int vertex) const;
    TimeParts single_exchange(const Branches& all) const;
    TimeParts split_exchange(const Branches& all) const;
    double messages_a_round(const Branches& all, Exchange exchange) const;
    TimeParts with_crowded_cores(TimeParts parts, const Branches& all, double rounds) const;
    double copy_gbytes_per_s(const Branches& all) const;
    double working_set_bytes(int host_ranks) const;

    const Tree& tree_;
    const PlanSpec& spec_;
    const Tuning& tuning_;
    double chunk_elems_;
    // These are indexed by vertex:
    std::vector<char> framed_;       ///< framed_down()
    std::vector<double> holders_;    ///< holder_counts()
    std::vector<double> climbs_us_;  ///< climb_latencies_us()
    std::vector<double> outlets_;    ///< outlets_us_per_byte()
    std::vector<Below> below_;
    std::vector<LevelForecast> levels_;
};

}  // namespace gradcoll
