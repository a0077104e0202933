#include "runtime/device/mirror.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "runtime/program.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t alignment = 64;

constexpr std::size_t aligned(std::size_t size_bytes) {
    return (size_bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

MirrorLayout::MirrorLayout(const Plan& plan)
    : elem_bytes_(plan.spec.elem_bytes), tail_schedule_(&plan.tail) {
    body_ = offsets_in(plan.body);
    tail_ = offsets_in(plan.tail);
}

std::vector<std::size_t> MirrorLayout::offsets_in(const Schedule& schedule) {
    using Key = std::tuple<StepKind, Space, std::int64_t, std::int64_t>;
    std::map<Key, std::size_t> ranges;
    std::vector<std::size_t> offsets(schedule.steps.size());
    std::size_t end = aligned(schedule.scratch_bytes);
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        if (!is_message(step.kind)) continue;
        const Slot slot = slot_of_message(step);
        if (slot.where() == Space::scratch) {
            offsets[i] = schedule.slots[slot.index].offset_bytes;
            continue;
        }
        const Key key{step.kind, slot.where(), step.range.begin, step.range.end};
        const auto [found, is_new] = ranges.try_emplace(key, end);
        offsets[i] = found->second;
        if (is_new) end += aligned(static_cast<std::size_t>(step.range.size()) * elem_bytes_);
    }
    size_bytes_ = std::max(size_bytes_, end);
    return offsets;
}

}  // namespace gradcoll
