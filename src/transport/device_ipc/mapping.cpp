#include "transport/device_ipc/mapping.hpp"

#include <mutex>
#include <vector>

namespace gradcoll {
namespace {

struct Registry {
    std::mutex mutex;
    std::vector<std::weak_ptr<PeerMapping>> mappings;
};

/// Never destroyed: communicators may be freed while the process leaves.
Registry& registry() {
    static Registry& registry = *new Registry;
    return registry;
}

}  // namespace

PeerMapping::~PeerMapping() {
    close();
}

bool PeerMapping::is_outdated_by(const AllocationOrigin& origin) const {
    const std::uint64_t mine = origin_.base, other = origin.base;
    const bool overlap =
        mine < other ? other - mine < origin_.size_bytes : mine - other < origin.size_bytes;
    return overlap && origin_.process == origin.process && origin_ != origin;
}

Status PeerMapping::open() {
    const auto base = device_.open(handle_);
    if (!base.ok()) return base.status();
    base_ = *base;
    const auto mapped = device_.allocation_of(*base);
    size_bytes_ = mapped.ok() ? mapped->size_bytes : origin_.size_bytes;
    return {};
}

void PeerMapping::close() {
    if (void* base = base_.exchange(nullptr); base != nullptr) device_.close(base);
}

Result<std::shared_ptr<const PeerMapping>> PeerMapping::of(Device& device,
                                                           const AllocationOrigin& origin,
                                                           const DeviceHandle& handle) {
    Registry& known = registry();
    const std::scoped_lock lock(known.mutex);
    std::erase_if(known.mappings, [](const auto& entry) { return entry.expired(); });
    for (const auto& entry : known.mappings) {
        const std::shared_ptr<PeerMapping> mapping = entry.lock();
        if (mapping == nullptr || &mapping->device_ != &device) continue;
        if (mapping->origin_ == origin && mapping->handle_ == handle && mapping->is_open())
            return std::shared_ptr<const PeerMapping>(mapping);
        // A driver may refuse to map what has come to the place of something that is still mapped.
        if (mapping->is_outdated_by(origin)) mapping->close();
    }
    std::shared_ptr<PeerMapping> made(new PeerMapping(device, origin, handle));
    GRADCOLL_TRY(made->open());
    known.mappings.push_back(made);
    return std::shared_ptr<const PeerMapping>(made);
}

}  // namespace gradcoll
