// call/gradients/gradient_packs.hpp - short exact gradients that are summed as one: their elements
// one behind the other in a buffer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "call/gradients/gradient_sum.hpp"

namespace gradcoll {

/// PackedSum is the sum of several gradients of one type and op, which go the same way. Their
/// elements are copied in when it starts, and out when it is complete.
class PackedSum final : public Work {
  public:
    /// `work` sums `shape.count` elements in place.
    PackedSum(std::unique_ptr<GradientSum> work, const CallShape& shape);

    /// Uses it for these gradients. Together they have no more elements than the shape, and all are
    /// of its type and op.
    void use_for(std::span<Gradient* const> gradients);
    bool is_free() const { return works_.empty(); }
    bool fits(std::uint64_t kind, std::int64_t count) const {
        return shape_.kind == kind && shape_.count == count;
    }

    Status start() override;
    Result<Progress> advance() override;
    std::size_t take_local(std::span<LocalStep> out) override { return work_->take_local(out); }
    void abandon() override { work_->abandon(); }

  private:
    void copy_out();

    std::unique_ptr<GradientSum> work_;
    CallShape shape_;
    std::vector<std::byte> buffer_;
    std::vector<const GradientSum*> works_;  ///< the work of each gradient under way
};

/// GradientPacks holds all packs of one engine, which are used again and again.
class GradientPacks final : public GradientPacker {
  public:
    using MakeWork = std::function<Result<std::unique_ptr<GradientSum>>(const CallShape&)>;
    /// `make_work` makes the work that sums a vector of such a shape in place; it is called on the
    /// thread that makes the turns.
    explicit GradientPacks(MakeWork make_work) : make_work_(std::move(make_work)) {}

    Result<Work*> pack(std::span<Gradient* const> gradients) override;

  private:
    Result<PackedSum*> free_sum(const CallShape& shape);

    MakeWork make_work_;
    std::vector<std::unique_ptr<PackedSum>> sums_;
};

}  // namespace gradcoll
