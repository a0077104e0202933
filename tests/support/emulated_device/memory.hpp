// emulated_device/memory.hpp - "device memory": addresses that crash whoever reads or writes them,
// as on a GPU, over bytes that only the workers of the streams find.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/status.hpp"
#include "memory/device.hpp"

namespace gradcoll::emulated {

/// Access says what may touch host memory: kernels only pinned memory, copies all.
enum class Access : std::uint8_t { copy, kernel };

/// Memory is all memory of all emulated devices of this process, pinned memory too. Device
/// addresses come out of one range that is mapped without any access; the bytes are a memfd mapped
/// elsewhere, which other processes open through /proc. Thread safe.
class Memory {
  public:
    static Memory& of_process();

    Result<void*> allocate(int device, std::size_t size_bytes);
    /// Releases memory of allocate() or open(), which nothing may use any more.
    void release(void* base);
    Result<void*> allocate_pinned(std::size_t size_bytes);
    void release_pinned(void* memory);

    /// Takes no lock.
    int device_of(const void* pointer) const;
    /// Errors: invalid_buffer.
    Result<DeviceAllocation> allocation_of(int device, const void* pointer) const;
    Result<DeviceHandle> share(int device, const void* base) const;
    Result<void*> open(int device, const DeviceHandle& handle);

    /// Returns where the bytes of [pointer, pointer + size_bytes) are, for a worker. Errors:
    /// transport, as of an illegal memory access.
    Result<std::byte*> reach(const void* pointer, std::size_t size_bytes, Access access) const;

  private:
    static constexpr std::size_t granule_bytes = std::size_t{2} << 20;
    static constexpr std::size_t granule_count = 8192;

    struct Granule {
        std::atomic<std::uintptr_t> end{0};  ///< end of the block that covers it; 0: free
        std::atomic<int> device{-1};
    };
    struct Block {
        std::size_t size_bytes = 0;  ///< the size asked for
        std::byte* bytes = nullptr;  ///< where they really are
        std::uint64_t id = 0;
        int device = -1;
        int file = -1;
        bool opened = false;  ///< whether it belongs to another process
    };
    using Blocks = std::map<std::uintptr_t, Block>;

    Memory();
    /// Maps the file and gives it addresses; owns it from here on.
    Result<void*> add(Block block);
    static void show(std::uintptr_t base, const Block& block);
    static void hide(std::uintptr_t base, const Block& block);
    /// Returns the first of this many free granules in a row, or granule_count.
    std::size_t find_room(std::size_t granules) const;
    bool in_range(std::uintptr_t address) const;
    /// Returns the block around an address; blocks_.end() if there is none.
    Blocks::const_iterator find(std::uintptr_t address) const;
    bool is_pinned(std::uintptr_t address, std::size_t size_bytes) const;

    std::uintptr_t first_ = 0;
    std::array<Granule, granule_count> granules_;
    mutable std::mutex mutex_;  ///< guards all below
    Blocks blocks_;
    std::uint64_t last_id_ = 0;
    std::map<std::uintptr_t, std::size_t> pinned_;
};

}  // namespace gradcoll::emulated
