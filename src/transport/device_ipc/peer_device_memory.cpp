#include "transport/device_ipc/peer_device_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gradcoll {
namespace {

constexpr std::uint64_t magic = 0x31304d4544464352;  // "RCFDEM01", little endian

/// An allocation of a process, as that process sees it: tells whether a mapping is still of it.
struct Origin {
    std::int64_t process = 0;
    std::uint64_t base = 0;
    std::uint64_t size_bytes = 0;
    std::uint64_t id = 0;
    friend bool operator==(const Origin&, const Origin&) = default;
};

/// Whether both cannot live at the same time: one of them has been released.
bool exclude_each_other(const Origin& a, const Origin& b) {
    const bool overlap =
        a.base < b.base ? b.base - a.base < a.size_bytes : a.base - b.base < b.size_bytes;
    return a.process == b.process && a != b && overlap;
}

/// As it travels: same host, same build, so in the machine's own layout.
struct Reference {
    std::uint64_t magic = 0;
    std::uint64_t offset_bytes = 0;  ///< into the allocation
    std::uint64_t size_bytes = 0;    ///< of the bytes that are meant
    Origin allocation;
    DeviceHandle handle;
    std::uint64_t unused = 0;
};
static_assert(sizeof(Reference) == reference_bytes);

struct OwnHandle {
    std::uint64_t id = 0;
    DeviceHandle handle;
    std::uint64_t last_use = 0;
};

struct Mapping {
    Origin allocation;
    DeviceHandle handle;
    void* base = nullptr;
    std::size_t size_bytes = 0;  ///< as the device tells; else as the reference does
    std::uint64_t last_use = 0;
};

template <class Entry>
auto oldest(std::vector<Entry>& entries) {
    return std::min_element(entries.begin(), entries.end(),
                            [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
}

Status corrupt(std::string_view what, std::uint64_t got, std::string_view allowed) {
    return {Code::corrupt,
            fmt::format("reference to a peer's device memory: {} is {}; {}", what, got, allowed)};
}

/// Whether the bytes lie within an allocation of that size.
Status check_range(const Reference& reference, std::uint64_t allocation_bytes) {
    if (reference.size_bytes > allocation_bytes ||
        reference.offset_bytes > allocation_bytes - reference.size_bytes)
        return corrupt("the offset", reference.offset_bytes,
                       fmt::format("{} bytes from there must lie within an allocation of {}",
                                   reference.size_bytes, allocation_bytes));
    return {};
}

Status check(const Reference& reference, std::size_t expected_bytes) {
    if (reference.magic != magic)
        return corrupt("its first word", reference.magic, fmt::format("{} was expected", magic));
    if (reference.size_bytes != expected_bytes)
        return corrupt("the size", reference.size_bytes,
                       fmt::format("{} bytes were expected", expected_bytes));
    return check_range(reference, reference.allocation.size_bytes);
}

}  // namespace

struct PeerDeviceMemory::Impl {
    explicit Impl(Device& given) : device(given) {}

    Result<DeviceHandle> handle_of(const DeviceAllocation& allocation);
    Result<const Mapping*> mapping_of(const Reference& reference);
    void close_what_is_released(const Origin& allocation);

    Device& device;
    std::vector<OwnHandle> own;
    std::vector<Mapping> mappings;
    std::uint64_t uses = 0;
};

/// Another allocation that has come to the same address has another id; without ids nothing is
/// kept.
Result<DeviceHandle> PeerDeviceMemory::Impl::handle_of(const DeviceAllocation& allocation) {
    const auto found = std::find_if(own.begin(), own.end(), [&](const OwnHandle& known) {
        return allocation.id != 0 && known.id == allocation.id;
    });
    if (found != own.end()) {
        found->last_use = ++uses;
        return found->handle;
    }
    const auto handle = device.share(allocation);
    if (!handle.ok()) return handle.status();
    if (own.size() == most_mappings) own.erase(oldest(own));
    own.push_back({allocation.id, *handle, ++uses});
    return *handle;
}

/// Memory that was released in its process stays mapped here until it is known; a driver may refuse
/// to map what has come to its place.
void PeerDeviceMemory::Impl::close_what_is_released(const Origin& allocation) {
    std::erase_if(mappings, [&](const Mapping& known) {
        const bool released = exclude_each_other(known.allocation, allocation);
        if (released) device.close(known.base);
        return released;
    });
}

Result<const Mapping*> PeerDeviceMemory::Impl::mapping_of(const Reference& reference) {
    const auto found = std::find_if(mappings.begin(), mappings.end(), [&](const Mapping& known) {
        return known.handle == reference.handle && known.allocation == reference.allocation;
    });
    if (found != mappings.end()) {
        found->last_use = ++uses;
        return &*found;
    }
    close_what_is_released(reference.allocation);
    const auto base = device.open(reference.handle);
    if (!base.ok()) return base.status();
    if (mappings.size() == most_mappings) {
        const auto least_used = oldest(mappings);
        device.close(least_used->base);
        mappings.erase(least_used);
    }
    const auto mapped = device.allocation_of(*base);
    mappings.push_back({reference.allocation, reference.handle, *base,
                        mapped.ok() ? mapped->size_bytes : reference.allocation.size_bytes,
                        ++uses});
    return &mappings.back();
}

PeerDeviceMemory::PeerDeviceMemory(Device& device) : impl_(std::make_unique<Impl>(device)) {
    impl_->own.reserve(most_mappings);
    impl_->mappings.reserve(most_mappings);
}

PeerDeviceMemory::~PeerDeviceMemory() {
    for (const Mapping& mapping : impl_->mappings) impl_->device.close(mapping.base);
}

Status PeerDeviceMemory::refer(const void* data, std::size_t size_bytes,
                               std::span<std::byte, reference_bytes> out) {
    const auto allocation = impl_->device.allocation_of(data);
    if (!allocation.ok()) return allocation.status();
    const auto handle = impl_->handle_of(*allocation);
    if (!handle.ok()) return handle.status();
    Reference reference;
    reference.magic = magic;
    reference.offset_bytes = static_cast<std::uint64_t>(static_cast<const std::byte*>(data) -
                                                        static_cast<std::byte*>(allocation->base));
    reference.size_bytes = size_bytes;
    reference.allocation = {getpid(), reinterpret_cast<std::uintptr_t>(allocation->base),
                            allocation->size_bytes, allocation->id};
    reference.handle = *handle;
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
    const auto mapping = impl_->mapping_of(reference);
    if (!mapping.ok()) return mapping.status();
    GRADCOLL_TRY(check_range(reference, (*mapping)->size_bytes));
    return static_cast<const std::byte*>((*mapping)->base) + reference.offset_bytes;
}

}  // namespace gradcoll
