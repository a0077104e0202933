#include "call/gradients/gradient_packs.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace gradcoll {
namespace {

std::int64_t up_to_multiple(std::int64_t count, std::int64_t unit) {
    return (count + unit - 1) / unit * unit;
}

/// Rounds a multiple of the granule up to one of which only the six leading bits may be set, so
/// that few plans serve all packs. Adds at most a 32nd.
std::int64_t rounded_up(std::int64_t count, std::int64_t granule) {
    const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count)));
    return up_to_multiple(count, std::max(granule, std::int64_t{1} << std::max(0, bits - 6)));
}

GradientSum& work_of(const Gradient& gradient) {
    return static_cast<GradientSum&>(*gradient.work);
}

}  // namespace

Status PackedSum::use_for(std::span<Gradient* const> gradients, std::int64_t granule,
                          std::vector<std::byte> buffer) {
    buffer_ = std::move(buffer);
    for (const Gradient* gradient : gradients) works_.push_back(&work_of(*gradient));
    if (Status laid_out = lay_out(granule); !laid_out.ok()) {
        works_.clear();
        return laid_out;
    }
    if (buffer_.size() < buffer_used_) buffer_.resize(buffer_used_);
    point_into_buffer();
    CallArguments arguments;
    arguments.sendbuf = MPI_IN_PLACE;
    arguments.recvbuf = buffer_.data();
    work_->bind(arguments, shape_);
    std::uint64_t gradient_bytes = 0;
    for (const GradientSum* work : works_) gradient_bytes += work->shape().size_bytes();
    work_->lie_in(parts_, gradient_bytes);
    return {};
}

Status PackedSum::lay_out(std::int64_t granule) {
    copies_.clear();
    parts_.clear();
    buffer_used_ = 0;
    const std::size_t value_bytes = shape_.type == ElementType::f64 ? 8 : 4;
    std::int64_t at = 0;
    for (GradientSum* work : works_) {
        const std::int64_t count = work->shape().count;
        const std::int64_t stays = layout_ == PackLayout::scattered ? count / granule * granule : 0;
        const std::int64_t room = up_to_multiple(count, granule) - stays;
        const auto* const input = static_cast<const std::byte*>(work->input());
        auto* const output = static_cast<std::byte*>(work->output());
        Copy copy;
        std::byte* residual = nullptr;
        if (layout_ == PackLayout::in_buffer)
            copy.dropped = work->dropped();
        else if (work->dropped() != nullptr)
            residual = static_cast<std::byte*>(GRADCOLL_VALUE(work->dropped()->data_for({})));
        if (stays > 0) parts_.push_back({at, input, output, residual});
        if (room > 0) {
            const std::size_t skipped = static_cast<std::size_t>(stays) * shape_.elem_bytes;
            copy.input = input + skipped;
            copy.output = output + skipped;
            copy.bytes = work->shape().size_bytes() - skipped;
            copy.size_bytes = static_cast<std::size_t>(room) * shape_.elem_bytes;
            if (residual != nullptr) residual += static_cast<std::size_t>(stays) * value_bytes;
            add_copy(at + stays, copy, residual);
        }
        at += stays + room;
    }
    if (at < shape_.count) {
        Copy zeros;
        zeros.size_bytes = static_cast<std::size_t>(shape_.count - at) * shape_.elem_bytes;
        add_copy(at, zeros, nullptr);
    }
    return {};
}

/// Takes note of elements that are copied to the buffer while they are summed.
void PackedSum::add_copy(std::int64_t elem, Copy copy, std::byte* residual) {
    copy.at = buffer_used_;
    copy.part = parts_.size();
    buffer_used_ += copy.size_bytes;
    copies_.push_back(copy);
    if (layout_ != PackLayout::in_buffer) parts_.push_back({elem, nullptr, nullptr, residual});
}

/// Tells the parts where the buffer is, from when on it stays there.
void PackedSum::point_into_buffer() {
    if (layout_ == PackLayout::in_buffer) return;
    for (const Copy& copy : copies_) {
        parts_[copy.part].output = buffer_.data() + copy.at;
        parts_[copy.part].input = parts_[copy.part].output;
    }
}

Status PackedSum::copy_in() {
    for (const Copy& copy : copies_) {
        std::byte* const to = buffer_.data() + copy.at;
        if (copy.bytes > 0) std::memcpy(to, copy.input, copy.bytes);
        std::memset(to + copy.bytes, 0, copy.size_bytes - copy.bytes);
        if (copy.dropped != nullptr) GRADCOLL_TRY(copy.dropped->hand_over(to));
    }
    return {};
}

Status PackedSum::start() {
    Status started = copy_in();
    if (started.ok()) started = work_->start();
    if (!started.ok()) works_.clear();
    return started;
}

Result<Progress> PackedSum::advance() {
    auto progress = work_->advance();
    if (progress.ok() && *progress != Progress::complete) return progress;
    if (progress.ok())
        for (const Copy& copy : copies_)
            if (copy.bytes > 0) std::memcpy(copy.output, buffer_.data() + copy.at, copy.bytes);
    works_.clear();
    return progress;
}

Result<PackedSum*> GradientPacks::free_sum(const GradientWay& member, const CallShape& shape) {
    for (const Kept& kept : kept_)
        if (kept.sum->is_free() && kept.kind == shape.kind && kept.count == shape.count &&
            kept.member.whole == member.whole && kept.member.packed == member.packed)
            return kept.sum.get();
    auto sum = make_(member, shape);
    if (!sum) return sum.status();
    kept_.push_back({member, shape.kind, shape.count, std::move(sum).value()});
    return kept_.back().sum.get();
}

/// Returns the largest buffer that no sum uses; an empty one if all are in use.
std::vector<std::byte> GradientPacks::free_buffer() {
    PackedSum* largest = nullptr;
    for (const Kept& kept : kept_)
        if (kept.sum->is_free() &&
            (largest == nullptr || kept.sum->buffer_bytes() > largest->buffer_bytes()))
            largest = kept.sum.get();
    return largest != nullptr ? largest->take_buffer() : std::vector<std::byte>();
}

Result<Work*> GradientPacks::pack(std::span<Gradient* const> gradients) {
    const GradientSum& first = work_of(*gradients.front());
    const std::int64_t granule = pack_granule_of(first.way);
    CallShape shape = first.shape();
    shape.count = 0;
    for (const Gradient* gradient : gradients) {
        const CallShape& one = work_of(*gradient).shape();
        if (one.kind != shape.kind || one.elem_bytes != shape.elem_bytes)
            return Status(Code::internal, "a pack has gradients of different types or ops");
        shape.count += up_to_multiple(one.count, granule);
    }
    shape.count = rounded_up(shape.count, granule);
    PackedSum* const sum = GRADCOLL_VALUE(free_sum(first.way, shape));
    GRADCOLL_TRY(sum->use_for(gradients, granule, free_buffer()));
    return static_cast<Work*>(sum);
}

}  // namespace gradcoll
