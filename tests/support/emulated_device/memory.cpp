#include "memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "settings.hpp"

namespace gradcoll::emulated {
namespace {

constexpr std::size_t page_bytes = 4096;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

std::uintptr_t address_of(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

Status no_memory(std::size_t size_bytes) {
    return {Code::out_of_memory,
            fmt::format("cannot allocate {} bytes of device memory", size_bytes)};
}

/// FileHandle is what a DeviceHandle of an emulated device holds.
struct FileHandle {
    static constexpr std::uint64_t magic_value = 0x6d65'6465'7665'6463;
    std::uint64_t magic = magic_value;
    std::int32_t process = 0;
    std::int32_t file = 0;
    std::uint64_t inode = 0;
    std::uint64_t size_bytes = 0;
};
static_assert(sizeof(FileHandle) <= sizeof(DeviceHandle));

/// Opens the file that a handle names for this process. Errors: corrupt.
Result<int> open_file(const FileHandle& handle) {
    const Status none(Code::corrupt, "no handle of device memory");
    if (handle.magic != FileHandle::magic_value || handle.process <= 0 || handle.file < 0)
        return none;
    const std::string path = fmt::format("/proc/{}/fd/{}", handle.process, handle.file);
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return none;
    struct stat facts {};
    const bool fits = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                      facts.st_ino == handle.inode && handle.size_bytes > 0 &&
                      handle.size_bytes <= static_cast<std::uint64_t>(facts.st_size);
    if (fits) return file;
    ::close(file);
    return none;
}

}  // namespace

/// Returns the memory, which is never destroyed: workers may still run while the process leaves.
Memory& Memory::of_process() {
    static Memory& memory = *new Memory;
    return memory;
}

Memory::Memory() {
    void* range = mmap(nullptr, (granule_count + 1) * granule_bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) std::abort();  // a test cannot go on
    first_ = rounded_up(address_of(range), granule_bytes);
}

bool Memory::in_range(std::uintptr_t address) const {
    return address >= first_ && address - first_ < granule_count * granule_bytes;
}

int Memory::device_of(const void* pointer) const {
    const std::uintptr_t address = address_of(pointer);
    if (!in_range(address)) return -1;
    const Granule& granule = granules_[(address - first_) / granule_bytes];
    return address < granule.end.load(std::memory_order_acquire)
               ? granule.device.load(std::memory_order_relaxed)
               : -1;
}

std::size_t Memory::find_room(std::size_t granules) const {
    std::size_t free = 0;
    for (std::size_t at = 0; at < granule_count; ++at) {
        free = granules_[at].end.load(std::memory_order_relaxed) == 0 ? free + 1 : 0;
        if (free == granules) return at + 1 - granules;
    }
    return granule_count;
}

Result<void*> Memory::allocate(int device, std::size_t size_bytes) {
    if (size_bytes > granule_count * granule_bytes) return no_memory(size_bytes);
    Block block;
    block.size_bytes = std::max<std::size_t>(size_bytes, 1);
    block.device = device;
    block.file = memfd_create("emulated device memory", MFD_CLOEXEC);
    if (block.file < 0) return no_memory(size_bytes);
    if (ftruncate(block.file, static_cast<off_t>(rounded_up(block.size_bytes, page_bytes))) != 0) {
        ::close(block.file);
        return no_memory(size_bytes);
    }
    return add(block);
}

Result<void*> Memory::add(Block block) {
    const std::size_t mapped_bytes = rounded_up(block.size_bytes, page_bytes);
    void* bytes = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, block.file, 0);
    const std::scoped_lock lock(mutex_);
    const std::size_t granules = rounded_up(block.size_bytes, granule_bytes) / granule_bytes;
    const std::size_t place = find_room(granules);
    if (bytes == MAP_FAILED || place == granule_count) {
        if (bytes != MAP_FAILED) munmap(bytes, mapped_bytes);
        ::close(block.file);
        return no_memory(block.size_bytes);
    }
    block.bytes = static_cast<std::byte*>(bytes);
    block.id = ++last_id_;
    const std::uintptr_t base = first_ + place * granule_bytes;
    for (std::size_t i = place; i < place + granules; ++i) {
        granules_[i].device.store(block.device, std::memory_order_relaxed);
        granules_[i].end.store(base + block.size_bytes, std::memory_order_release);
    }
    if (settings().readable) show(base, block);
    blocks_.emplace(base, block);
    return reinterpret_cast<void*>(base);  // NOLINT: an address that nobody may follow
}

/// Lets the addresses that were given out lead to the bytes after all.
void Memory::show(std::uintptr_t base, const Block& block) {
    mmap(reinterpret_cast<void*>(base), rounded_up(block.size_bytes, page_bytes),  // NOLINT
         PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, block.file, 0);
}

void Memory::hide(std::uintptr_t base, const Block& block) {
    mmap(reinterpret_cast<void*>(base), rounded_up(block.size_bytes, page_bytes),  // NOLINT
         PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void Memory::release(void* base) {
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(address_of(base));
    if (found == blocks_.end()) return;
    const Block& block = found->second;
    const std::size_t place = (found->first - first_) / granule_bytes;
    const std::size_t granules = rounded_up(block.size_bytes, granule_bytes) / granule_bytes;
    for (std::size_t i = place; i < place + granules; ++i)
        granules_[i].end.store(0, std::memory_order_release);
    if (settings().readable) hide(found->first, block);
    munmap(block.bytes, rounded_up(block.size_bytes, page_bytes));
    ::close(block.file);
    blocks_.erase(found);
}

/// Allocates exactly as many bytes as asked for, so that a sanitizer sees every overrun.
Result<void*> Memory::allocate_pinned(std::size_t size_bytes) {
    const std::size_t bytes = std::max<std::size_t>(size_bytes, 1);
    void* memory = nullptr;
    if (bytes > granule_count * granule_bytes || posix_memalign(&memory, page_bytes, bytes) != 0)
        return Status(Code::out_of_memory,
                      fmt::format("cannot allocate {} bytes of pinned memory", size_bytes));
    const std::scoped_lock lock(mutex_);
    pinned_.emplace(address_of(memory), bytes);
    return memory;
}

void Memory::release_pinned(void* memory) {
    const std::scoped_lock lock(mutex_);
    if (pinned_.erase(address_of(memory)) == 1) std::free(memory);
}

Memory::Blocks::const_iterator Memory::find(std::uintptr_t address) const {
    auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return blocks_.end();
    --after;
    return address - after->first < after->second.size_bytes ? after : blocks_.end();
}

bool Memory::is_pinned(std::uintptr_t address, std::size_t size_bytes) const {
    auto after = pinned_.upper_bound(address);
    if (after == pinned_.begin()) return false;
    --after;
    const std::size_t offset = address - after->first;
    return offset <= after->second && size_bytes <= after->second - offset;
}

Result<DeviceAllocation> Memory::allocation_of(int device, const void* pointer) const {
    const std::scoped_lock lock(mutex_);
    const auto found = find(address_of(pointer));
    if (found == blocks_.end() || found->second.device != device)
        return Status(Code::invalid_buffer,
                      fmt::format("{} is no memory of emulated device {}", pointer, device));
    return DeviceAllocation{reinterpret_cast<void*>(found->first),  // NOLINT: as in add()
                            found->second.size_bytes, found->second.id};
}

Result<DeviceHandle> Memory::share(int device, const void* base) const {
    if (!settings().shares)
        return Status(Code::unsupported, "emulated devices share no memory here");
    const std::scoped_lock lock(mutex_);
    const auto found = blocks_.find(address_of(base));
    if (found == blocks_.end() || found->second.device != device)
        return Status(Code::invalid_buffer,
                      fmt::format("{} is no allocation of emulated device {}", base, device));
    if (found->second.opened)
        return Status(Code::unsupported, "memory of another process cannot be shared on");
    struct stat facts {};
    if (fstat(found->second.file, &facts) != 0)
        return Status(Code::transport, std::string("fstat: ") + std::strerror(errno));
    FileHandle file;
    file.process = getpid();
    file.file = found->second.file;
    file.inode = facts.st_ino;
    file.size_bytes = found->second.size_bytes;
    DeviceHandle handle;
    std::memcpy(handle.bytes.data(), &file, sizeof file);
    return handle;
}

Result<void*> Memory::open(int device, const DeviceHandle& handle) {
    if (!settings().shares)
        return Status(Code::unsupported, "emulated devices share no memory here");
    FileHandle names;
    std::memcpy(&names, handle.bytes.data(), sizeof names);
    const Result<int> file = open_file(names);
    if (!file.ok()) return file.status();
    Block block;
    block.size_bytes = names.size_bytes;
    block.device = device;
    block.file = *file;
    block.opened = true;
    return add(block);
}

Result<std::byte*> Memory::reach(const void* pointer, std::size_t size_bytes, Access access) const {
    const std::uintptr_t address = address_of(pointer);
    const std::scoped_lock lock(mutex_);
    if (!in_range(address)) {
        if (access == Access::copy || is_pinned(address, size_bytes))
            return static_cast<std::byte*>(const_cast<void*>(pointer));  // the caller knows which
        return Status(Code::transport,
                      fmt::format("an illegal memory access: {} bytes at {} are neither device nor "
                                  "pinned memory",
                                  size_bytes, pointer));
    }
    const auto found = find(address);
    const std::size_t offset = found == blocks_.end() ? 0 : address - found->first;
    if (found == blocks_.end() || size_bytes > found->second.size_bytes - offset)
        return Status(Code::transport,
                      fmt::format("an illegal memory access: {} bytes at {} are not within an "
                                  "allocation",
                                  size_bytes, pointer));
    return found->second.bytes + offset;
}

}  // namespace gradcoll::emulated
