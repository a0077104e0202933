// tests/soak/dice.hpp - random decisions. One Dice that all ranks roll alike decides what is
// called; another one, different on every rank, decides in what ranks may differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace gradcoll::soak {

class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}

    /// Returns a number from 0 to end - 1.
    std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
    /// Returns true once in `times`.
    bool once_in(std::size_t times) { return below(times) == 0; }
    std::uint64_t bits() { return random_(); }
    template <class T>
    const T& any_of(const std::vector<T>& list) {
        return list[below(list.size())];
    }

  private:
    std::mt19937_64 random_;
};

/// Returns the bytes of a vector: mostly few, often at or beside a power of two.
std::size_t rolled_bytes(Dice& dice);

/// Returns a tree over the ranks 0 to rank_count - 1 of the world as GC_TOPOLOGY accepts it: any
/// shape and order.
std::string rolled_tree(Dice& dice, int rank_count);

}  // namespace gradcoll::soak
