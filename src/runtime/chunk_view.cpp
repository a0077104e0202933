#include "runtime/chunk_view.hpp"

#include <algorithm>

namespace gradcoll {

ChunkView::ChunkView(const Plan& plan, const Schedule& schedule, std::int64_t chunk,
                     const Binding& binding, const ChunkScratch& scratch)
    : schedule_(&schedule),
      input_(static_cast<const std::byte*>(binding.input)),
      output_(static_cast<std::byte*>(binding.output)),
      scratch_(scratch.bytes),
      blocks_(scratch.blocks),
      parts_(binding.parts),
      place_(place_of(plan, chunk)),
      input_begin_elem_(in_vector(schedule.input_first_elem) - in_vector(0)),
      output_begin_elem_(in_vector(schedule.output_first_elem) - in_vector(0)),
      elem_bytes_(plan.spec.elem_bytes),
      residual_elem_bytes_(plan.spec.type == ElementType::f64 ? 8 : 4) {
    if (!binding.residual || !plan.spec.feedback) return;
    const std::int64_t first = chunk * plan.body.residual_elems;
    residual_ = static_cast<std::byte*>(binding.residual) +
                static_cast<std::size_t>(first) * residual_elem_bytes_;
}

std::int64_t ChunkView::piece_end(Range range) const {
    if (parts_.empty()) return range.end;
    const VectorPart& part = part_with(parts_, in_vector(range.begin));
    if (&part == &parts_.back()) return range.end;
    return std::min(range.end, (&part + 1)->begin_elem - in_vector(0));
}

ChunkView ChunkView::later_in_slots(std::size_t skipped_bytes) const {
    ChunkView later = *this;
    later.skipped_in_slots_ = skipped_bytes;
    return later;
}

const std::byte* ChunkView::source(Slot slot, Range range) const {
    if (slot.where() != Space::input) return target(slot, range);
    const std::int64_t elem = in_vector(range.begin);
    if (parts_.empty()) return input_ + offset(elem - input_begin_elem_);
    const VectorPart& part = part_with(parts_, elem);
    return part.input + offset(elem - part.begin_elem);
}

std::byte* ChunkView::output(std::int64_t elem) const {
    if (parts_.empty()) return output_ + offset(elem - output_begin_elem_);
    const VectorPart& part = part_with(parts_, elem);
    return part.output + offset(elem - part.begin_elem);
}

std::byte* ChunkView::target(Slot slot, Range range) const {
    switch (slot.where()) {
        case Space::output:
            return output(in_vector(range.begin));
        case Space::work:
            return scratch_ + offset(range.begin);
        case Space::scratch:
            return scratch_ + schedule_->slots[slot.index].offset_bytes + skipped_in_slots_;
        case Space::input:
        case Space::none:
            break;
    }
    return nullptr;
}

MessageBytes ChunkView::message(const Step& step) const {
    const bool sends = step.kind == StepKind::send;
    const Slot slot = sends ? step.from : step.to;
    if (const EncodedBlocks* blocks = sends ? blocks_of(step) : nullptr)
        return blocks->message(slot);
    const std::size_t size_bytes = slot.where() == Space::scratch
                                       ? schedule_->slots[slot.index].size_bytes
                                       : bytes_of(step.range);
    // Nothing is written to what is sent, but its header, where it has one.
    return {const_cast<std::byte*>(source(slot, step.range)), size_bytes};
}

std::byte* ChunkView::residual(std::int64_t place, std::int64_t elem) const {
    if (!parts_.empty()) {
        const VectorPart& part = part_with(parts_, in_vector(elem));
        if (!part.residual) return nullptr;
        return part.residual +
               static_cast<std::size_t>(in_vector(elem) - part.begin_elem) * residual_elem_bytes_;
    }
    if (!residual_) return nullptr;
    return residual_ + static_cast<std::size_t>(place) * residual_elem_bytes_;
}

bool encodes_each_element_once(const Plan& plan) {
    return plan.spec.collective == Collective::allreduce && plan.spec.feedback &&
           plan.residual_elems() == plan.spec.count_elems;
}

bool has_messages_in_scratch(const Plan& plan) {
    const auto is_in_vector = [](const Step& step) {
        const bool sends = step.kind == StepKind::send;
        if (!sends && step.kind != StepKind::recv) return false;
        const Space space = (sends ? step.from : step.to).where();
        return space == Space::input || space == Space::output;
    };
    const auto has_none = [&](const Schedule& schedule) {
        return std::none_of(schedule.steps.begin(), schedule.steps.end(), is_in_vector);
    };
    return has_none(plan.body) && has_none(plan.tail);
}

}  // namespace gradcoll
