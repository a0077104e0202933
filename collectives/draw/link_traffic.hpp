// collectives/draw/link_traffic.hpp - what an allreduce puts on each link, level by level.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "collectives/predict/links.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Of the exchange at one vertex.
struct LevelBytes {
    int level = 0;  ///< height of that vertex - 1
    double up = 0;
    double down = 0;
};

/// Up to `counted_ranks` ranks the messages of all plans are counted, headers included; beyond, the
/// bytes come from expected_loads(). Keeps a reference to `tree`.
class LinkTraffic {
  public:
    static constexpr int counted_ranks = 96;

    /// Errors: what make_plan says.
    static Result<LinkTraffic> of(const Tree& tree, const PlanSpec& spec);

    bool counted() const { return counted_; }
    /// Over the uplink of `vertex`, which is not the root; the lowest level first, without levels
    /// that put nothing on it. Time: its distance from the root.
    std::vector<LevelBytes> by_level(int vertex) const;
    /// All levels together.
    LevelBytes total(int vertex) const;
    /// How long the busier direction takes; 0 if the bandwidth is not known.
    double time_us(int vertex) const;

  private:
    explicit LinkTraffic(const Tree& tree) : tree_(&tree) {}
    Status count(const PlanSpec& spec);
    void add(const Plan& plan, const Schedule& schedule, double times);
    std::size_t place_of(int vertex, int level) const {
        return static_cast<std::size_t>(vertex) * static_cast<std::size_t>(tree_->height()) +
               static_cast<std::size_t>(level);
    }
    LevelBytes& counted_at(int vertex, int level) { return counts_[place_of(vertex, level)]; }
    std::vector<LevelBytes> expected_by_level(int vertex) const;

    const Tree* tree_;
    bool counted_ = false;
    std::vector<LevelBytes> counts_;      ///< by vertex, then level; if counted
    std::vector<ExpectedLoad> expected_;  ///< by vertex; otherwise
};

}  // namespace gradcoll
