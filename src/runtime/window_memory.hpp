// runtime/window_memory.hpp - scratch memory for all chunks that are in flight at a time, and for
// data on a device its mirror in the host's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collectives/plan/plan.hpp"
#include "compress/coded_block.hpp"
#include "runtime/device/device_area.hpp"
#include "runtime/scratch_pool.hpp"

namespace gradcoll {

/// MirrorLayout says where the mirror of each message lies: the places of a chunk that messages
/// leave from and come to are there once more in pinned memory. The scratch area is mirrored as it
/// is, since its slots are written once in a chunk. Ranges of vectors may overlap while both are on
/// their way, so each range has a mirror of its own, one for sends of it and one for receives.
/// Immutable.
class MirrorLayout {
  public:
    /// `scratch_bytes` is the size of one chunk's scratch, with what is behind the schedule's.
    MirrorLayout(const Plan& plan, std::size_t scratch_bytes);

    std::size_t size_bytes() const { return size_bytes_; }  ///< size for one chunk
    /// Returns the offset from the chunk's mirror for a message step of the plan's body or tail.
    std::size_t offset_of(const Schedule& schedule, std::size_t step) const {
        return (&schedule == tail_schedule_ ? tail_ : body_)[step];
    }

  private:
    /// Returns one offset per step; those of steps that are no messages mean nothing.
    std::vector<std::size_t> offsets_in(const Schedule& schedule);

    std::size_t elem_bytes_;
    std::size_t scratch_bytes_;
    const Schedule* tail_schedule_;
    std::size_t size_bytes_ = 0;
    std::vector<std::size_t> body_, tail_;
};

/// ChunkMemory is the memory of one chunk; it does not own it.
struct ChunkMemory {
    std::byte* scratch = nullptr;  ///< on the device, if the data are there
    std::byte* mirror = nullptr;   ///< pinned; only if the data are on a device
    const MirrorLayout* mirror_layout = nullptr;
    std::span<CodedBlock> blocks;  ///< pinned; for codecs of variable rate, likewise
};

/// WindowMemory is on the host, borrowed from a pool while an operation runs. For data on a device
/// it is on that device, with a mirror in pinned memory, taken when this is made and kept: peers
/// map the device's allocation into their processes, so it must not move or grow under them; and
/// allocating there makes the whole device wait.
class WindowMemory {
  public:
    struct Room {
        std::size_t places = 0;         ///< how many chunks have a place
        std::size_t scratch_bytes = 0;  ///< scratch of one place
        std::size_t blocks = 0;         ///< blocks of one place, in tables for a device
    };
    /// `device` is null for data of the host, which need `pool`; it must not be null. Errors:
    /// out_of_memory.
    static Result<WindowMemory> make(const Plan& plan, const Room& room, Device* device,
                                     std::shared_ptr<ScratchPool> pool);
    /// Borrows memory before an operation, for all places, or for one if there is not enough for
    /// all. What was not given back is kept for the next operation. It has no effect for data on a
    /// device. Errors: out_of_memory.
    Status borrow();
    void give_back() { lease_.give_back(); }
    /// Returns how many places have memory; on the host there are some only while it is borrowed.
    std::size_t places() const { return usable_places_; }
    /// Returns the memory of a place; on the host only while it is borrowed.
    ChunkMemory of(std::uint32_t place);

  private:
    Status take_from(Device& device, const Plan& plan, const Room& room);

    std::size_t places_ = 0;
    std::size_t usable_places_ = 0;
    std::size_t scratch_bytes_ = 0;  ///< scratch of one place
    std::shared_ptr<ScratchPool> pool_;
    ScratchLease lease_;
    DeviceArea scratch_, mirror_, blocks_;
    std::size_t block_count_ = 0;  ///< blocks of one place
    std::unique_ptr<MirrorLayout> layout_;
};

}  // namespace gradcoll
