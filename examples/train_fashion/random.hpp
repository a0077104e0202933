// train_fashion/random.hpp - random numbers that are the same with every compiler and standard
// library.
#pragma once

#include <cstdint>

namespace train {

/// Random is SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Not for cryptography.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
        return z ^ z >> 31;
    }
    /// Returns a number with 0 <= result < limit; the bias of limit / 2^64 does not matter here.
    std::uint64_t below(std::uint64_t limit) { return next() % limit; }
    /// Returns a number with -1 <= result < 1.
    float symmetric() { return static_cast<float>(next() >> 40) * 0x1p-23F - 1.0F; }

  private:
    std::uint64_t state_;
};

}  // namespace train
