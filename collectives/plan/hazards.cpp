// collectives/plan/hazards.cpp - finds dependencies from memory footprints.
#include "collectives/plan/hazards.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

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

Hazards::Hazards() {
    for (Uses& uses : areas_) uses.emplace(std::numeric_limits<std::int64_t>::min(), Use{});
}

std::vector<std::uint32_t> Hazards::record(std::uint32_t step, const Footprint& footprint) {
    std::vector<std::uint32_t> deps;
    for (const Access& access : footprint) {
        if (access.extent.empty()) continue;
        Uses& uses = areas_[static_cast<std::size_t>(access.area)];
        const auto begin = cut(uses, access.extent.begin);
        const auto end = cut(uses, access.extent.end);
        for (auto piece = begin; piece != end; ++piece) collect(piece->second, access.write, deps);
    }
    for (const Access& access : footprint) {
        if (access.extent.empty()) continue;
        Uses& uses = areas_[static_cast<std::size_t>(access.area)];
        const auto begin = cut(uses, access.extent.begin);
        const auto end = cut(uses, access.extent.end);
        if (access.write) {
            begin->second = Use{step, {}};
            uses.erase(std::next(begin), end);
        } else {
            for (auto piece = begin; piece != end; ++piece) piece->second.readers.push_back(step);
        }
    }
    std::sort(deps.begin(), deps.end());
    deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
    return deps;
}

Hazards::Uses::iterator Hazards::cut(Uses& uses, std::int64_t at) {
    const auto next = uses.upper_bound(at);
    const auto piece = std::prev(next);
    if (piece->first == at) return piece;
    return uses.emplace_hint(next, at, piece->second);
}

void Hazards::collect(const Use& use, bool write, std::vector<std::uint32_t>& deps) {
    if (write && !use.readers.empty())
        deps.insert(deps.end(), use.readers.begin(), use.readers.end());
    else if (use.writer >= 0)
        deps.push_back(static_cast<std::uint32_t>(use.writer));
}

}  // namespace gradcoll
