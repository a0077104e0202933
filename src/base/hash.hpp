// base/hash.hpp - one stable 64-bit hash (FNV-1a) for cache keys and for "are we equal on all
// ranks". Not for untrusted data where collisions would matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace gradcoll {

class Hash {
  public:
    Hash& bytes(const void* data, std::size_t size_bytes) {
        const auto* p = static_cast<const unsigned char*>(data);
        for (std::size_t i = 0; i < size_bytes; ++i) state_ = (state_ ^ p[i]) * 0x100000001b3ULL;
        return *this;
    }
    Hash& text(std::string_view s) { return value(s.size()).bytes(s.data(), s.size()); }
    template <class T>
    Hash& value(T v) {
        static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
        return bytes(&v, sizeof v);
    }
    std::uint64_t digest() const { return state_; }

  private:
    std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

/// Returns different numbers for different numbers; all bits of the number count in the high ones.
constexpr std::uint64_t spread(std::uint64_t number) {
    return number * 0x9e3779b97f4a7c15ULL;
}

/// Scrambles as if numbers were drawn by lot: those that differ in any bit are far apart in all
/// bits. Source: the finalizer of MurmurHash3.
constexpr std::uint64_t scrambled(std::uint64_t number) {
    number = (number ^ (number >> 33)) * 0xff51afd7ed558ccdULL;
    number = (number ^ (number >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return number ^ (number >> 33);
}

/// Returns one of 2^bits slots of a small table. Handles of MPI are addresses in some libraries and
/// small numbers in others.
constexpr std::size_t slot_of(std::uint64_t handle, int bits) {
    return spread(handle) >> (64 - bits);
}

}  // namespace gradcoll
