#include "runtime/device/mirror.hpp"

#include <algorithm>

#include "runtime/program.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t alignment = 64;

constexpr std::size_t aligned(std::size_t size_bytes) {
    return (size_bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

MirrorLayout::MirrorLayout(const Plan& plan) : elem_bytes_(plan.spec.elem_bytes) {
    add(plan.body);
    add(plan.tail);
    size_bytes_ = scratch_bytes_ + input_bytes_ + output_bytes_;
}

void MirrorLayout::add(const Schedule& schedule) {
    const std::size_t vector_bytes =
        aligned(static_cast<std::size_t>(schedule.count_elems) * elem_bytes_);
    for (const Step& step : schedule.steps) {
        if (!is_message(step.kind)) continue;
        const Space space = (step.kind == StepKind::send ? step.from : step.to).where();
        if (space == Space::input)
            input_bytes_ = std::max(input_bytes_, vector_bytes);
        else if (space == Space::output)
            output_bytes_ = std::max(output_bytes_, vector_bytes);
        else
            scratch_bytes_ = std::max<std::size_t>(scratch_bytes_, aligned(schedule.scratch_bytes));
    }
}

std::size_t MirrorLayout::offset_of(const Schedule& schedule, Slot slot, Range range) const {
    const std::size_t in_vector = static_cast<std::size_t>(range.begin) * elem_bytes_;
    switch (slot.where()) {
        case Space::scratch:
            return schedule.slots[slot.index].offset_bytes;
        case Space::input:
            return scratch_bytes_ + in_vector;
        case Space::output:
            return scratch_bytes_ + input_bytes_ + in_vector;
        case Space::work:
        case Space::none:
            break;
    }
    return in_vector;
}

}  // namespace gradcoll
