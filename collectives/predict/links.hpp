// collectives/predict/links.hpp - bytes on the links of the tree: counted from plans, or by formula
// where there are too many ranks to plan for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Bytes over each vertex's uplink (index: vertex id) in one call.
struct LinkBytes {
    std::uint64_t up = 0;
    std::uint64_t down = 0;
};

/// Adds up what plans send, one plan after another, so that only one of them must be there at a
/// time. Keeps a reference to `tree`.
class LinkCounter {
  public:
    explicit LinkCounter(const Tree& tree)
        : tree_(tree), links_(static_cast<std::size_t>(tree.vertex_count())) {}

    /// Time: messages of the plan times the height of the tree.
    void add(const Plan& plan);
    const std::vector<LinkBytes>& links() const { return links_; }

  private:
    void add(const Schedule& schedule, const Plan& plan, std::uint64_t times);

    const Tree& tree_;
    std::vector<LinkBytes> links_;
};

/// Of all ranks' plans together.
std::vector<LinkBytes> bytes_on_uplinks(const Tree& tree, std::span<const Plan> plans);

/// What an uplink carries in one call, each direction, by formula.
struct ExpectedLoad {
    int vertex = -1;      ///< that the branches of this exchange are of: the parent, or the next
                          ///< above it that is not merged; -1 for the root
    double here = 0;      ///< bytes of the exchange there
    double of_above = 0;  ///< and so much of what that vertex's own uplink carries
};

/// What an allreduce by `spec` puts on each uplink (index: vertex id): below a vertex of degree d,
/// (d-1)/d of the vector for the exchange there, and 1/d of what the vertex's own uplink carries. A
/// link that b of the d branches share (merged vertices) carries b (d-b)/d, and b/d; a single
/// exchange takes a whole vector from each branch to each holder of another, in one phase. Leaves
/// out headers and what granules round, and takes the busier direction. Time: linear in vertices.
std::vector<ExpectedLoad> expected_loads(const Tree& tree, const PlanSpec& spec);

/// The sums of these.
std::vector<double> expected_on_uplinks(const Tree& tree, const PlanSpec& spec);

/// How many ranks hold each element below each vertex once it has exchanged on the way up: one, or
/// after a single exchange those of all its branches. Index: vertex id.
std::vector<double> holder_counts(const Tree& tree, const VertexChoices& choices);

}  // namespace gradcoll
