// collectives/predict/links.hpp - bytes on the links of the tree: counted from plans, or by formula
// if there are too many ranks to plan for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// LinkBytes counts the bytes over each vertex's uplink (index: vertex id) in one call; with codecs
/// of variable rate they are bounds, like all encoded bytes that this folder counts.
struct LinkBytes {
    std::uint64_t up = 0;
    std::uint64_t down = 0;
};

/// LinkCounter adds up what plans send, one plan after another, so that only one of them must exist
/// at a time. Keeps a reference to `tree`.
class LinkCounter {
  public:
    explicit LinkCounter(const Tree& tree)
        : tree_(tree), links_(static_cast<std::size_t>(tree.vertex_count())) {}

    /// Adds a plan's messages. Time: messages of the plan times the height of the tree.
    void add(const Plan& plan);
    const std::vector<LinkBytes>& links() const { return links_; }

  private:
    void add(const Schedule& schedule, const Plan& plan, std::uint64_t times);

    const Tree& tree_;
    std::vector<LinkBytes> links_;
};

/// Calls visit(vertex, goes_up) for the uplink of every vertex that a message between two ranks
/// passes, and returns the vertex at which its way turns. Vertices are numbered in pre-order: of
/// two that are not above each other the one with the higher number is never above the other.
template <class Visit>
int visit_links_between(const Tree& tree, int from_rank, int to_rank, Visit visit) {
    int from = tree.leaf_of(from_rank);
    int to = tree.leaf_of(to_rank);
    while (from != to) {
        int& lower = from > to ? from : to;
        visit(lower, from > to);
        lower = tree.vertex(lower).parent;
    }
    return from;
}

/// Returns the bytes of all ranks' plans together.
std::vector<LinkBytes> bytes_on_uplinks(const Tree& tree, std::span<const Plan> plans);

/// An ExpectedLoad is what an uplink carries in one call, in each direction, by formula.
struct ExpectedLoad {
    int vertex = -1;  ///< the vertex whose branches exchange over the uplink: the parent, or the
                      ///< next above it that is not merged; -1 for the root
    double here = 0;  ///< bytes of the exchange there
    double of_above = 0;  ///< the part of what that vertex's own uplink carries
};

/// Returns what an allreduce that flexreduce plans by `spec` puts on each uplink (index: vertex
/// id): below a vertex of degree d, (d-1)/d of the vector for the exchange there (some exchanges
/// take more: see times_least_bytes()), and 1/d of what the vertex's own uplink carries. A link
/// that b of the d branches share (merged vertices) carries b (d-b)/d, and b/d; a single exchange
/// takes a whole vector from each branch to each holder of another, in one phase. Headers and the
/// rounding of granules are left out, and the busier direction is returned. Time: linear in
/// vertices.
std::vector<ExpectedLoad> expected_loads(const Tree& tree, const PlanSpec& spec);

/// Return the sums of these, by vertex.
std::vector<double> sums_of(const std::vector<ExpectedLoad>& loads);
std::vector<double> expected_on_uplinks(const Tree& tree, const PlanSpec& spec);

/// Returns whether the owners' encodings travel down through each vertex: it and all above it are
/// lossy, and so is the way down. Index: vertex id; no for leaves.
std::vector<char> framed_down(const Tree& tree, const PlanSpec& spec);

/// Returns how many ranks hold each element below each vertex once it has exchanged on the way up:
/// one, or after a single exchange those of all its branches. Index: vertex id.
std::vector<double> holder_counts(const Tree& tree, const VertexChoices& choices);

}  // namespace gradcoll
