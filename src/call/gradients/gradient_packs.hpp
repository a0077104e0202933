// call/gradients/gradient_packs.hpp - short gradients that are summed as one vector, in a buffer or
// where each of them is.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "call/gradients/gradient_sum.hpp"

namespace gradcoll {

/// PackLayout says where the elements of a pack are while it is summed.
enum class PackLayout : std::uint8_t {
    in_buffer,             ///< copied to a buffer, with what was dropped of them before added
    in_buffer_with_parts,  ///< in a buffer; encoders find what was dropped of each gradient
    scattered  ///< where each gradient has them, but for ends that do not fill a codec's block
};

/// PackedSum is the sum of several gradients of one type and op, which go the same way.
class PackedSum final : public Work {
  public:
    /// `work` sums a vector of such a shape: in place, unless it is scattered.
    PackedSum(std::unique_ptr<GradientSum> work, const CallShape& shape, PackLayout layout)
        : work_(std::move(work)), shape_(shape), layout_(layout) {}

    /// Uses it for these gradients, all of its type and op. Each begins at a multiple of `granule`
    /// elements; so they must fit into the shape. `buffer` is of any size. Errors: those of
    /// Residual::data_for().
    Status use_for(std::span<Gradient* const> gradients, std::int64_t granule,
                   std::vector<std::byte> buffer);
    bool is_free() const { return works_.empty(); }
    /// Moves the buffer out; called only while it is free.
    std::vector<std::byte> take_buffer() { return std::move(buffer_); }
    std::size_t buffer_bytes() const { return buffer_.size(); }

    Status start() override;
    Result<Progress> advance() override;
    std::size_t take_local(std::span<LocalStep> out) override { return work_->take_local(out); }
    void abandon() override { work_->abandon(); }

  private:
    /// A Copy is what moves between a gradient and the buffer. The first `bytes` of `size_bytes`
    /// are elements, zeros follow.
    struct Copy {
        const std::byte* input = nullptr;
        std::byte* output = nullptr;
        std::size_t bytes = 0;
        std::size_t size_bytes = 0;
        Residual* dropped = nullptr;  ///< what it keeps is added to the elements
        std::size_t at = 0;           ///< place in the buffer
        std::size_t part = 0;         ///< its part, where there are parts
    };
    Status lay_out(std::int64_t granule);
    void add_copy(std::int64_t elem, Copy copy, std::byte* residual);
    void point_into_buffer();
    Status copy_in();

    std::unique_ptr<GradientSum> work_;
    const CallShape shape_;
    const PackLayout layout_;
    std::vector<std::byte> buffer_;
    std::size_t buffer_used_ = 0;
    std::vector<GradientSum*> works_;  ///< the work of each gradient under way
    std::vector<Copy> copies_;
    std::vector<VectorPart> parts_;
};

/// GradientPacks holds all packs of one engine, which are used again and again.
class GradientPacks final : public GradientPacker {
  public:
    /// A Maker makes the sum of gradients that go as `member`, together of this shape. It is called
    /// on the thread that makes the turns.
    using Maker = std::function<Result<std::unique_ptr<PackedSum>>(const GradientWay& member,
                                                                   const CallShape& shape)>;
    explicit GradientPacks(Maker make) : make_(std::move(make)) {}

    Result<Work*> pack(std::span<Gradient* const> gradients) override;

  private:
    /// A Kept sum serves packs of one shape whose first gradient goes as `member`.
    struct Kept {
        GradientWay member;
        std::uint64_t kind = 0;
        std::int64_t count = 0;
        std::unique_ptr<PackedSum> sum;
    };
    Result<PackedSum*> free_sum(const GradientWay& member, const CallShape& shape);
    std::vector<std::byte> free_buffer();

    Maker make_;
    std::vector<Kept> kept_;
};

}  // namespace gradcoll
