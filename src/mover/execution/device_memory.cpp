// mover/execution/device_memory.cpp - see device_memory.hpp.
#include "mover/execution/device_memory.hpp"

#include <algorithm>

namespace gradcoll::mover {

DeviceMemory::~DeviceMemory() {
    release_kept(0);
}

std::byte* DeviceMemory::take(std::int64_t bytes) {
    auto& same_size = free_[bytes];
    std::byte* block = nullptr;
    if (!same_size.empty()) {
        block = same_size.back();
        same_size.pop_back();
        kept_ -= bytes;
    } else {
        release_kept(std::max<std::int64_t>(0, most_ - used_ - bytes));
        const auto fresh = machine_.allocate(bytes);
        if (!fresh.ok()) return nullptr;
        block = *fresh;
    }
    used_ += bytes;
    peak_ = std::max(peak_, used_);
    return block;
}

void DeviceMemory::give_back(std::byte* block, std::int64_t bytes) {
    free_[bytes].push_back(block);
    used_ -= bytes;
    kept_ += bytes;
}

void DeviceMemory::set_aside(std::int64_t bytes) {
    used_ += bytes;
    peak_ = std::max(peak_, used_);
}

void DeviceMemory::release_kept(std::int64_t until) {
    for (auto& [bytes, blocks] : free_)
        for (; kept_ > until && !blocks.empty(); blocks.pop_back()) {
            machine_.release(blocks.back());
            kept_ -= bytes;
        }
}

}  // namespace gradcoll::mover
