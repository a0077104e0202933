// runtime/window_memory.hpp - scratch memory for all chunks that are in flight at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/arena.hpp"
#include "runtime/device/device_area.hpp"
#include "runtime/device/mirror.hpp"

namespace gradcoll {

/// Of one chunk; not owned.
struct ChunkMemory {
    std::byte* scratch = nullptr;  ///< of the device, if the data are there
    std::byte* mirror = nullptr;   ///< pinned; only if the data are on a device
    const MirrorLayout* mirror_layout = nullptr;
};

/// On the host; or, for data on a device, on that device, with a mirror in pinned memory.
class WindowMemory {
  public:
    /// `device`: null for data of the host. Errors: out_of_memory.
    static Result<WindowMemory> make(const Plan& plan, std::size_t places, Device* device);
    ChunkMemory of(std::uint32_t place);

  private:
    Status take_from(Device& device, const Plan& plan, std::size_t places);

    std::vector<Arena> arenas_;  ///< by place
    DeviceArea scratch_, mirror_;
    std::size_t scratch_bytes_ = 0;  ///< of one place
    std::unique_ptr<MirrorLayout> layout_;
};

}  // namespace gradcoll
