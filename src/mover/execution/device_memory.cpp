// mover/execution/device_memory.cpp - see device_memory.hpp.
#include "mover/execution/device_memory.hpp"

#include <algorithm>
#include <cstdlib>

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
        constexpr std::size_t line = 64;
        const std::size_t size = (static_cast<std::size_t>(bytes) + line) / line * line;
        block = static_cast<std::byte*>(std::aligned_alloc(line, size));
        if (block == nullptr) return nullptr;
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
            std::free(blocks.back());
            kept_ -= bytes;
        }
}

}  // namespace gradcoll::mover
