#include "runtime/chunk_view.hpp"

namespace gradcoll {

ChunkView::ChunkView(const Plan& plan, const Schedule& schedule, std::int64_t chunk,
                     const Binding& binding, const ChunkScratch& scratch)
    : schedule_(&schedule),
      input_(static_cast<const std::byte*>(binding.input)),
      output_(static_cast<std::byte*>(binding.output)),
      scratch_(scratch.bytes),
      blocks_(scratch.blocks),
      input_shift_elems_(chunk * plan.spec.chunk_elems - schedule.input_first_elem),
      output_shift_elems_(chunk * plan.spec.chunk_elems - schedule.output_first_elem),
      elem_bytes_(plan.spec.elem_bytes),
      residual_elem_bytes_(plan.spec.type == ElementType::f64 ? 8 : 4) {
    if (!binding.residual || !plan.spec.feedback) return;
    const std::int64_t first = chunk * plan.body.residual_elems;
    residual_ = static_cast<std::byte*>(binding.residual) +
                static_cast<std::size_t>(first) * residual_elem_bytes_;
}

const std::byte* ChunkView::source(Slot slot, Range range) const {
    if (slot.where() == Space::input) return input_ + offset(input_shift_elems_ + range.begin);
    return target(slot, range);
}

std::byte* ChunkView::target(Slot slot, Range range) const {
    switch (slot.where()) {
        case Space::output:
            return output_ + offset(output_shift_elems_ + range.begin);
        case Space::work:
            return scratch_ + offset(range.begin);
        case Space::scratch:
            return scratch_ + schedule_->slots[slot.index].offset_bytes;
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

std::byte* ChunkView::residual(std::int64_t first_elem) const {
    if (!residual_) return nullptr;
    return residual_ + static_cast<std::size_t>(first_elem) * residual_elem_bytes_;
}

}  // namespace gradcoll
