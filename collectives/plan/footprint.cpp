// collectives/plan/footprint.cpp - which memory a step reads and writes.
#include "collectives/plan/footprint.hpp"

#include "compress/frame.hpp"

namespace gradcoll {
namespace {

Range shifted(Range range, std::int64_t by) {
    return {range.begin - by, range.end - by};
}

Range scratch_extent(const SlotExtent& slot) {
    const auto begin = static_cast<std::int64_t>(slot.offset_bytes);
    return {begin, begin + static_cast<std::int64_t>(slot.size_bytes)};
}

Access access(Slot slot, Range range, const Geometry& geometry, bool write) {
    const std::int64_t bytes = geometry.elem_bytes;
    switch (slot.where()) {
        case Space::none:
            break;
        case Space::input:
            return {geometry.in_place ? Area::output : Area::input,
                    shifted(range, geometry.input_first_elem), write};
        case Space::output:
            return {Area::output, shifted(range, geometry.output_first_elem), write};
        case Space::work:
            return {Area::scratch, {range.begin * bytes, range.end * bytes}, write};
        case Space::scratch:
            return {Area::scratch, scratch_extent(geometry.slots[slot.index]), write};
    }
    return {};
}

}  // namespace

Geometry geometry_of(const Schedule& schedule, const PlanSpec& spec) {
    return {schedule.input_first_elem, schedule.output_first_elem, spec.elem_bytes, spec.in_place,
            schedule.slots};
}

Footprint footprint_of(const Step& step, const Geometry& geometry) {
    const Access x =
        step.from_input ? access(Slot::input(), step.range, geometry, false) : Access{};
    Access from = access(step.from, step.range, geometry, false);
    if (step.kind == StepKind::send)
        from.extent.begin +=
            static_cast<std::int64_t>(frame_front_bytes(step.codec, elems_of(step)));
    return {from, access(step.to, step.range, geometry, true), x};
}

}  // namespace gradcoll
