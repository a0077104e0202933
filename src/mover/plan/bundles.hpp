// mover/plan/bundles.hpp - a long step with fewer tensors: those that the same operators use move
// as one.
#pragma once

#include <cstdint>
#include <vector>

#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Bundles is a program in which activations that the same operators use are one tensor. Operators
/// are those of the step.
class Bundles {
  public:
    /// Smaller tensors stay by themselves. The program must outlive this object. Complexity: linear
    /// in uses.
    Bundles(const Program& step, std::int64_t least_bytes);

    const Program& program() const { return bundled_; }

    /// Returns the plan of the step for one of its bundles. The tensors of a bundle follow each
    /// other in the time of its move. So each leaves no later than the bundle, and takes memory no
    /// earlier: the plan needs no more of anything, and its step is as long. Pools are not laid
    /// out.
    MovePlan unbundled(const MovePlan& plan, const Rooms& rooms) const;

  private:
    void bundle(const RankProgram& rank, std::int64_t least_bytes);

    const Program& step_;
    Program bundled_;
    std::vector<std::vector<std::vector<std::int32_t>>> tensors_;  ///< by rank and bundle
};

}  // namespace gradcoll::mover
