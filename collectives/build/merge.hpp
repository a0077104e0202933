// collectives/build/merge.hpp - removes levels that are not worth an exchange of their own: a
// vertex whose choice is Exchange::merged hands its branches to the vertex above, which exchanges
// between all of them at once. The tree of the machine stays unchanged; only the plan is made on a
// tree without that vertex. Pure. Thread safe.
#pragma once

#include <memory>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "collectives/plan/schedule.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Returns whether a vertex hands its branches to the one above.
bool is_merged(const Tree& tree, const VertexChoices& choices, int vertex);

/// Returns how many branches each vertex then has: its own, with those of merged children in their
/// place. Index: vertex id; 0 for leaves.
std::vector<int> branch_counts(const Tree& tree, const VertexChoices& choices);

/// A PlannedTree is a tree without the merged vertices, with a spec whose choices are for its
/// vertices. If nothing is merged, it is the given tree, to which it keeps a reference.
///
/// The link of a branch that was handed up stands for the whole way: it has the sum of the
/// latencies, and the bandwidth of the slowest link, where a link that b of the d branches share
/// carries b * (d - b) / (d - 1) times what each of them sends. It is not known if one of the links
/// is not.
class PlannedTree {
  public:
    /// `spec` has no choices or one for each vertex.
    PlannedTree(const Tree& tree, PlanSpec spec);

    const Tree& tree() const { return merged_ ? *merged_ : *tree_; }
    const PlanSpec& spec() const { return spec_; }
    bool has_merged() const { return merged_ != nullptr; }
    /// Returns the vertex of the given tree that corresponds to this one.
    int given_vertex(int vertex) const {
        return merged_ ? vertex_of_[static_cast<std::size_t>(vertex)] : vertex;
    }

    /// Gives the steps of `rank` the level numbers of the given tree.
    void number_levels(int rank, Schedule& schedule) const;

  private:
    const Tree* tree_;
    PlanSpec spec_;
    std::shared_ptr<const Tree> merged_;
    std::vector<int> vertex_of_;  ///< by vertex of *merged_: the corresponding one of *tree_
};

/// Checks that every merged vertex has another above it, with the same codec: thus a level's codec
/// is used between the branches of that level whatever is merged. Errors: invalid_argument.
Status check_merged(const Tree& tree, const VertexChoices& choices);

}  // namespace gradcoll
