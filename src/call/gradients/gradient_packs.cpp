#include "call/gradients/gradient_packs.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace gradcoll {
namespace {

/// Rounds up to a number of which only the four leading bits may be set, so that few plans serve
/// all packs. Adds at most an eighth.
std::int64_t rounded_up(std::int64_t count) {
    const auto bits = std::bit_width(static_cast<std::uint64_t>(count));
    const std::int64_t unit = std::int64_t{1} << std::max(0, static_cast<int>(bits) - 4);
    return (count + unit - 1) / unit * unit;
}

const GradientSum& work_of(const Gradient& gradient) {
    return static_cast<const GradientSum&>(*gradient.work);
}

}  // namespace

PackedSum::PackedSum(std::unique_ptr<GradientSum> work, const CallShape& shape)
    : work_(std::move(work)), shape_(shape), buffer_(shape.size_bytes()) {
    CallArguments arguments;
    arguments.sendbuf = MPI_IN_PLACE;
    arguments.recvbuf = buffer_.data();
    work_->bind(arguments, shape_);
}

void PackedSum::use_for(std::span<Gradient* const> gradients) {
    for (const Gradient* gradient : gradients) works_.push_back(&work_of(*gradient));
}

Status PackedSum::start() {
    std::byte* at = buffer_.data();
    for (const GradientSum* work : works_) {
        const std::size_t bytes = work->shape().size_bytes();
        if (bytes > 0) std::memcpy(at, work->input(), bytes);
        at += bytes;
    }
    std::memset(at, 0, static_cast<std::size_t>(buffer_.data() + buffer_.size() - at));
    Status started = work_->start();
    if (!started.ok()) works_.clear();
    return started;
}

Result<Progress> PackedSum::advance() {
    auto progress = work_->advance();
    if (progress.ok() && *progress == Progress::complete) copy_out();
    if (!progress.ok() || *progress == Progress::complete) works_.clear();
    return progress;
}

void PackedSum::copy_out() {
    const std::byte* at = buffer_.data();
    for (const GradientSum* work : works_) {
        const std::size_t bytes = work->shape().size_bytes();
        if (bytes > 0) std::memcpy(work->output(), at, bytes);
        at += bytes;
    }
}

Result<PackedSum*> GradientPacks::free_sum(const CallShape& shape) {
    for (const auto& sum : sums_)
        if (sum->is_free() && sum->fits(shape.kind, shape.count)) return sum.get();
    auto work = make_work_(shape);
    if (!work) return work.status();
    sums_.push_back(std::make_unique<PackedSum>(std::move(work).value(), shape));
    return sums_.back().get();
}

Result<Work*> GradientPacks::pack(std::span<Gradient* const> gradients) {
    CallShape shape = work_of(*gradients.front()).shape();
    shape.count = 0;
    for (const Gradient* gradient : gradients) {
        const CallShape& one = work_of(*gradient).shape();
        if (one.kind != shape.kind || one.elem_bytes != shape.elem_bytes)
            return Status(Code::internal, "a pack has gradients of different types or ops");
        shape.count += one.count;
    }
    shape.count = rounded_up(shape.count);
    PackedSum* const sum = GRADCOLL_VALUE(free_sum(shape));
    sum->use_for(gradients);
    return sum;
}

}  // namespace gradcoll
