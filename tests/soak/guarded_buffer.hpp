// tests/soak/guarded_buffer.hpp - memory at a random distance from alignment, between bytes that
// nobody may touch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gradcoll::soak {

class GuardedBuffer {
  public:
    GuardedBuffer() = default;
    /// The memory begins `shift_bytes` (below 64) behind a 64-byte border.
    GuardedBuffer(std::size_t size_bytes, std::size_t shift_bytes)
        : memory_(size_bytes + 4 * guard_bytes, guard), size_bytes_(size_bytes) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        begin_ = guard_bytes + (64 - address % 64) % 64 + shift_bytes;
    }

    void* data() { return memory_.data() + begin_; }
    const void* data() const { return memory_.data() + begin_; }
    std::size_t size_bytes() const { return size_bytes_; }

    bool guards_hold() const {
        for (std::size_t i = 0; i < begin_; ++i)
            if (memory_[i] != guard) return false;
        for (std::size_t i = begin_ + size_bytes_; i < memory_.size(); ++i)
            if (memory_[i] != guard) return false;
        return true;
    }

    /// Returns a hash of the bytes between the guards.
    std::uint64_t hash() const {
        std::uint64_t hash = 1469598103934665603ULL + size_bytes_;
        const unsigned char* bytes = memory_.data() + begin_;
        std::size_t at = 0;
        for (; at + 8 <= size_bytes_; at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + at, sizeof word);
            hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
            hash ^= hash >> 29;
        }
        for (; at < size_bytes_; ++at) hash = (hash ^ bytes[at]) * 1099511628211ULL;
        return hash;
    }

  private:
    static constexpr std::size_t guard_bytes = 64;
    static constexpr unsigned char guard = 0xa5;

    std::vector<unsigned char> memory_;
    std::size_t size_bytes_ = 0;
    std::size_t begin_ = 0;
};

}  // namespace gradcoll::soak
