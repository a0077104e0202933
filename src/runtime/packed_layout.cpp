#include "runtime/packed_layout.hpp"

#include <algorithm>
#include <map>

#include "base/round.hpp"

namespace gradcoll {
namespace {

bool is_packed(const Step& step, std::span<const int> plain_peers) {
    return step.peer >= 0 && packing_of(step.codec) != Packing::none &&
           !std::binary_search(plain_peers.begin(), plain_peers.end(), step.peer);
}

}  // namespace

PackedLayout::PackedLayout(const Schedule& schedule, std::uint64_t used_bytes,
                           std::span<const int> plain_peers)
    : scratch_bytes_(used_bytes) {
    std::map<std::uint32_t, std::uint64_t> offset_of_slot;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        if (!is_packed(step, plain_peers)) continue;
        offsets_.resize(schedule.steps.size());
        const std::uint32_t slot = (step.kind == StepKind::send ? step.from : step.to).index;
        const std::uint64_t end = rounded_up(scratch_bytes_, message_alignment);
        const auto [place, is_new] = offset_of_slot.try_emplace(slot, end);
        offsets_[i] = place->second;
        if (is_new) scratch_bytes_ = end + schedule.slots[slot].size_bytes;
    }
}

}  // namespace gradcoll
