#include "device/ipc/peer_device_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace gradcoll {
namespace {

/// AllocationOrigin describes an allocation of a process, as that process sees it.
struct AllocationOrigin {
    std::int64_t process = 0;
    std::uint64_t base = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t id = 0;
    friend bool operator==(const AllocationOrigin&, const AllocationOrigin&) = default;
};

Status corrupt(std::string_view what, std::uint64_t got, std::string_view allowed) {
    return {Code::corrupt,
            fmt::format("reference to a peer's device memory: {} is {}; {}", what, got, allowed)};
}

// ---- a peer's allocation, mapped into this process

class PeerMapping;

struct Registry {
    std::mutex mutex;
    std::vector<std::weak_ptr<PeerMapping>> mappings;
};

/// Returns the registry, which is never destroyed: communicators may be freed while the process
/// leaves.
Registry& registry() {
    static Registry& registry = *new Registry;
    return registry;
}

/// A PeerMapping is one mapping for all who use the same allocation through the same device. It is
/// closed when the last of them lets go, or when something else turns out to lie at its address in
/// its process: then it was released there, and nobody will refer to it again. Immutable but for
/// that.
class PeerMapping {
  public:
    PeerMapping(const PeerMapping&) = delete;
    PeerMapping& operator=(const PeerMapping&) = delete;
    ~PeerMapping() { close(); }

    const AllocationOrigin& origin() const { return origin_; }
    const DeviceHandle& handle() const { return handle_; }
    /// Returns false once it was found released: then there is no base.
    bool is_open() const { return base_.load(std::memory_order_acquire) != nullptr; }
    const std::byte* base() const {
        return static_cast<const std::byte*>(base_.load(std::memory_order_acquire));
    }

    /// Finds the mapping or makes it. It takes a lock, so keep what it returns. Thread safe.
    /// Errors: those of Device::open; corrupt.
    static Result<std::shared_ptr<const PeerMapping>> of(Device& device,
                                                         const AllocationOrigin& origin,
                                                         const DeviceHandle& handle) {
        Registry& known = registry();
        const std::scoped_lock lock(known.mutex);
        std::erase_if(known.mappings, [](const auto& entry) { return entry.expired(); });
        std::vector<std::shared_ptr<PeerMapping>> outdated;
        for (const auto& entry : known.mappings) {
            const std::shared_ptr<PeerMapping> mapping = entry.lock();
            if (mapping == nullptr || &mapping->device_ != &device) continue;
            if (mapping->origin_ == origin && mapping->handle_ == handle && mapping->is_open())
                return std::shared_ptr<const PeerMapping>(mapping);
            if (mapping->is_outdated_by(origin)) outdated.push_back(mapping);
        }
        std::shared_ptr<PeerMapping> made(new PeerMapping(device, origin, handle));
        GRADCOLL_TRY(made->open_in_place_of(outdated));
        known.mappings.push_back(made);
        return std::shared_ptr<const PeerMapping>(made);
    }

  private:
    PeerMapping(Device& device, const AllocationOrigin& origin, const DeviceHandle& handle)
        : device_(device), origin_(origin), handle_(handle) {}
    bool is_outdated_by(const AllocationOrigin& origin) const {
        const std::uint64_t mine = origin_.base, other = origin.base;
        const bool overlap =
            mine < other ? other - mine < origin_.size_bytes : mine - other < origin.size_bytes;
        return overlap && origin_.process == origin.process && origin_ != origin;
    }

    /// Opens this mapping, and closes what is outdated, but not for a handle that is none: copies
    /// may be under way from there, if what the origin says is a lie.
    Status open_in_place_of(std::span<const std::shared_ptr<PeerMapping>> outdated) {
        Status opened = open();
        // A driver may refuse to map what has come to the place of something that is still mapped.
        const bool may_be_in_the_way = opened.code() == Code::unsupported && !outdated.empty();
        if (!opened.ok() && !may_be_in_the_way) return opened;
        for (const auto& mapping : outdated) mapping->close();
        return opened.ok() ? opened : open();
    }

    /// Opens the handle and checks the size, which the device knows unless it does not tell.
    Status open() {
        const auto base = GRADCOLL_VALUE(device_.open(handle_));
        const auto mapped = device_.allocation_of(base);
        if (mapped.ok() && mapped->size_bytes < origin_.size_bytes) {
            device_.close(base);
            return corrupt("the size of its allocation", origin_.size_bytes,
                           fmt::format("{} bytes are there", mapped->size_bytes));
        }
        base_ = base;
        return {};
    }

    void close() {
        if (void* base = base_.exchange(nullptr); base != nullptr) device_.close(base);
    }

    Device& device_;
    const AllocationOrigin origin_;
    const DeviceHandle handle_;
    std::atomic<void*> base_{nullptr};
};

// ---- references to bytes in such allocations

constexpr std::uint64_t magic = 0x31304d4544464352;  // "RCFDEM01", little endian

/// Reference is a reference as it travels: both ends are on one host and of one build, so it has
/// the machine's own layout.
struct Reference {
    std::uint64_t magic = 0;
    std::uint64_t offset_bytes = 0;  ///< into the allocation
    std::uint64_t size_bytes = 0;    ///< size of the bytes that are meant
    AllocationOrigin allocation;
    DeviceHandle handle;
    std::uint64_t unused = 0;
};
static_assert(sizeof(Reference) == reference_bytes);

struct OwnHandle {
    std::uint64_t id = 0;
    DeviceHandle handle;
    std::uint64_t last_use = 0;
};

struct KnownMapping {
    std::shared_ptr<const PeerMapping> mapping;
    std::uint64_t last_use = 0;
};

template <class Entry>
auto oldest(std::vector<Entry>& entries) {
    return std::min_element(entries.begin(), entries.end(),
                            [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
}

Status check(const Reference& reference, std::size_t expected_bytes) {
    const std::uint64_t allocation_bytes = reference.allocation.size_bytes;
    if (reference.magic != magic)
        return corrupt("its first word", reference.magic, fmt::format("{} was expected", magic));
    if (reference.size_bytes != expected_bytes)
        return corrupt("the size", reference.size_bytes,
                       fmt::format("{} bytes were expected", expected_bytes));
    if (reference.size_bytes > allocation_bytes ||
        reference.offset_bytes > allocation_bytes - reference.size_bytes)
        return corrupt("the offset", reference.offset_bytes,
                       fmt::format("{} bytes from there must lie within an allocation of {}",
                                   reference.size_bytes, allocation_bytes));
    return {};
}

}  // namespace

struct PeerDeviceMemory::Impl {
    explicit Impl(Device& given) : device(given) {}

    Result<DeviceHandle> handle_of(const DeviceAllocation& allocation);
    Result<const PeerMapping*> mapping_of(const Reference& reference);

    Device& device;
    std::vector<OwnHandle> own;
    std::vector<KnownMapping> mappings;
    std::uint64_t uses = 0;
};

/// Returns the handle, kept from before if the allocation has the same id. Another allocation that
/// has come to the same address has another id; without ids nothing is kept.
Result<DeviceHandle> PeerDeviceMemory::Impl::handle_of(const DeviceAllocation& allocation) {
    const auto found = std::find_if(own.begin(), own.end(), [&](const OwnHandle& known) {
        return allocation.id != 0 && known.id == allocation.id;
    });
    if (found != own.end()) {
        found->last_use = ++uses;
        return found->handle;
    }
    const auto handle = GRADCOLL_VALUE(device.share(allocation));
    if (own.size() == most_mappings) own.erase(oldest(own));
    own.push_back({allocation.id, handle, ++uses});
    return handle;
}

Result<const PeerMapping*> PeerDeviceMemory::Impl::mapping_of(const Reference& reference) {
    const auto found =
        std::find_if(mappings.begin(), mappings.end(), [&](const KnownMapping& known) {
            return known.mapping->is_open() && known.mapping->handle() == reference.handle &&
                   known.mapping->origin() == reference.allocation;
        });
    if (found != mappings.end()) {
        found->last_use = ++uses;
        return found->mapping.get();
    }
    auto mapping = GRADCOLL_VALUE(PeerMapping::of(device, reference.allocation, reference.handle));
    if (mappings.size() == most_mappings) mappings.erase(oldest(mappings));
    mappings.push_back({std::move(mapping), ++uses});
    return mappings.back().mapping.get();
}

PeerDeviceMemory::PeerDeviceMemory(Device& device) : impl_(std::make_unique<Impl>(device)) {
    impl_->own.reserve(most_mappings);
    impl_->mappings.reserve(most_mappings);
}

PeerDeviceMemory::~PeerDeviceMemory() = default;

Status PeerDeviceMemory::refer(const void* data, std::size_t size_bytes,
                               std::span<std::byte, reference_bytes> out) {
    const DeviceAllocation allocation = GRADCOLL_VALUE(impl_->device.allocation_of(data));
    const DeviceHandle handle = GRADCOLL_VALUE(impl_->handle_of(allocation));
    Reference reference;
    reference.magic = magic;
    reference.offset_bytes = static_cast<std::uint64_t>(static_cast<const std::byte*>(data) -
                                                        static_cast<std::byte*>(allocation.base));
    reference.size_bytes = size_bytes;
    reference.allocation = {getpid(), reinterpret_cast<std::uintptr_t>(allocation.base),
                            allocation.size_bytes, allocation.id};
    reference.handle = handle;
    std::memcpy(out.data(), &reference, sizeof reference);
    return {};
}

Result<const void*> PeerDeviceMemory::resolve(std::span<const std::byte> bytes,
                                              std::size_t expected_bytes) {
    if (bytes.size() != reference_bytes)
        return corrupt("its length", bytes.size(),
                       fmt::format("{} bytes were expected", reference_bytes));
    Reference reference;
    std::memcpy(&reference, bytes.data(), sizeof reference);
    GRADCOLL_TRY(check(reference, expected_bytes));
    const auto mapping = GRADCOLL_VALUE(impl_->mapping_of(reference));
    return static_cast<const void*>(mapping->base() + reference.offset_bytes);
}

}  // namespace gradcoll
