#include "runtime/window_memory.hpp"

#include <algorithm>
#include <utility>

namespace gradcoll {

Result<WindowMemory> WindowMemory::make(const Plan& plan, std::size_t places, Device* device) {
    WindowMemory memory;
    memory.scratch_bytes_ = std::max(plan.body.scratch_bytes, plan.tail.scratch_bytes);
    if (device) {
        GRADCOLL_TRY(memory.take_from(*device, plan, places));
        return memory;
    }
    memory.arenas_.resize(places);
    for (Arena& arena : memory.arenas_) GRADCOLL_TRY(arena.reserve(memory.scratch_bytes_));
    return memory;
}

Status WindowMemory::take_from(Device& device, const Plan& plan, std::size_t places) {
    scratch_bytes_ = (scratch_bytes_ + Arena::alignment_bytes - 1) / Arena::alignment_bytes *
                     Arena::alignment_bytes;
    layout_ = std::make_unique<MirrorLayout>(plan);
    GRADCOLL_TRY(take(
        scratch_, DeviceArea::make(device, DeviceArea::Kind::on_device, places * scratch_bytes_)));
    return take(mirror_,
                DeviceArea::make(device, DeviceArea::Kind::pinned, places * layout_->size_bytes()));
}

ChunkMemory WindowMemory::of(std::uint32_t place) {
    ChunkMemory memory;
    if (!layout_) {
        memory.scratch = arenas_[place].data();
        return memory;
    }
    if (scratch_.data()) memory.scratch = scratch_.data() + place * scratch_bytes_;
    if (mirror_.data()) memory.mirror = mirror_.data() + place * layout_->size_bytes();
    memory.mirror_layout = layout_.get();
    return memory;
}

}  // namespace gradcoll
