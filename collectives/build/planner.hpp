// collectives/build/planner.hpp - makes the plan of each rank from a tree and a spec.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/status.hpp"
#include "collectives/build/builder.hpp"
#include "collectives/plan/plan.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// A Planner makes the plans of one call: it checks the spec, cuts it into chunks, and has each
/// made by the spec's builder. What concerns the whole tree is checked once, in make();
/// flexreduce's plans then cost time and memory in proportion to the rank's messages and to the
/// degrees on its path, however many ranks there are. Keeps a reference to the tree. Immutable,
/// thread safe.
class Planner {
  public:
    /// Makes a planner. Time: linear in the inner vertices. Errors: invalid_argument for a spec
    /// that contradicts itself (granule and codecs, choices of the wrong length...); unsupported
    /// for a tree or spec beyond what steps can number, or that the builder cannot plan. Both are
    /// the same on all ranks.
    static Result<Planner> make(const Tree& tree, PlanSpec spec);

    /// Makes the plan of a rank. Errors: invalid_argument for a rank that the tree does not have.
    Result<Plan> plan(int rank) const;
    /// Returns Plan::stage_count.
    std::uint32_t stage_count() const { return builders_.usual->stage_count(); }

  private:
    struct Builders {
        std::shared_ptr<const TreeBuilder> usual;
        std::shared_ptr<const TreeBuilder> of_rests;  ///< makes what no codec encodes
    };

    Planner(const Tree& tree, PlanSpec spec, Builders builders, LossParts loss_parts)
        : tree_(&tree),
          spec_(std::move(spec)),
          builders_(std::move(builders)),
          loss_parts_(loss_parts) {}

    Result<Schedule> schedule(int rank, std::int64_t chunk_elems) const;

    const Tree* tree_;
    PlanSpec spec_;
    Builders builders_;
    LossParts loss_parts_;
};

/// Returns Plan::loss_parts of the plans for a spec. Where the branches of a vertex sum up, all but
/// one send what they have, and each of these is encoded once more than its operands.
LossParts loss_parts_of(const Tree& tree, const PlanSpec& spec);

/// Returns the plan of one rank: Planner::make() and plan() in one. All ranks' plans for one spec
/// fit together.
///
/// allreduce: `input` and `output` are count_elems elements.
/// reduce_scatter_block: input is count_elems, output one block (count_elems / ranks), sums for
/// other ranks are kept in the work vector. In place the input is count_elems at the output's
/// address (MPI_IN_PLACE of MPI_Reduce_scatter_block). Elements are numbered in the whole vector:
/// Schedule::output_first_elem is the first of the block.
/// allgather: input is one block, output count_elems. In place the rank's block lies in the output
/// already and the input is not used.
/// In both, codecs encode whole granules of each block; what is left of it goes without them, in a
/// last chunk.
/// Residuals (feedback) of reduce_scatter_block and allgather cover the encodes of their one phase.
Result<Plan> make_plan(const Tree& tree, const PlanSpec& spec, int rank);

}  // namespace gradcoll
