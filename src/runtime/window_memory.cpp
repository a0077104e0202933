#include "runtime/window_memory.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/round.hpp"
#include "runtime/program.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t aligned(std::size_t size_bytes) {
    return rounded_up(size_bytes, Arena::alignment_bytes);
}

}  // namespace

MirrorLayout::MirrorLayout(const Plan& plan, std::size_t scratch_bytes)
    : elem_bytes_(plan.spec.elem_bytes), scratch_bytes_(scratch_bytes), tail_schedule_(&plan.tail) {
    body_ = offsets_in(plan.body);
    tail_ = offsets_in(plan.tail);
}

std::vector<std::size_t> MirrorLayout::offsets_in(const Schedule& schedule) {
    using Key = std::tuple<StepKind, Space, std::int64_t, std::int64_t>;
    std::map<Key, std::size_t> ranges;
    std::vector<std::size_t> offsets(schedule.steps.size());
    std::size_t end = aligned(scratch_bytes_);
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

Result<WindowMemory> WindowMemory::make(const Plan& plan, const Room& room, Device* device,
                                        std::shared_ptr<ScratchPool> pool) {
    WindowMemory memory;
    memory.places_ = memory.usable_places_ = room.places;
    memory.scratch_bytes_ = aligned(room.scratch_bytes);
    memory.pool_ = std::move(pool);
    if (device) GRADCOLL_TRY(memory.take_from(*device, plan, room));
    return memory;
}

Status WindowMemory::take_from(Device& device, const Plan& plan, const Room& room) {
    constexpr auto pinned = DeviceArea::Kind::pinned;
    layout_ = std::make_unique<MirrorLayout>(plan, scratch_bytes_);
    block_count_ = room.blocks;
    GRADCOLL_TRY(take(scratch_, DeviceArea::make(device, DeviceArea::Kind::on_device,
                                                 room.places * scratch_bytes_)));
    GRADCOLL_TRY(take(blocks_, DeviceArea::make(device, pinned,
                                                room.places * block_count_ * sizeof(CodedBlock))));
    return take(mirror_, DeviceArea::make(device, pinned, room.places * layout_->size_bytes()));
}

Status WindowMemory::borrow() {
    if (layout_ || lease_.data()) return {};
    usable_places_ = places_;
    if (take(lease_, pool_->borrow(places_ * scratch_bytes_)).ok()) return {};
    usable_places_ = 1;
    return take(lease_, pool_->borrow(scratch_bytes_));
}

ChunkMemory WindowMemory::of(std::uint32_t place) {
    ChunkMemory memory;
    std::byte* const scratch = layout_ ? scratch_.data() : lease_.data();
    if (scratch) memory.scratch = scratch + place * scratch_bytes_;
    if (mirror_.data()) memory.mirror = mirror_.data() + place * layout_->size_bytes();
    memory.mirror_layout = layout_.get();
    if (blocks_.data())
        memory.blocks = {reinterpret_cast<CodedBlock*>(blocks_.data()) + place * block_count_,
                         block_count_};
    return memory;
}

}  // namespace gradcoll
