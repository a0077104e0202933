// fuzz/mutator.hpp - makes texts that look like settings, more or less. The same seed and number
// give the same text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gradcoll::fuzz {

/// Random is xorshift64*.
class Random {
  public:
    Random(std::uint64_t seed, std::uint64_t number);
    std::uint64_t next();
    std::size_t below(std::size_t end) { return static_cast<std::size_t>(next() % end); }
    char byte() { return static_cast<char>(next() >> 32); }

  private:
    std::uint64_t state_;
};

/// Returns one of the seeds, unchanged or with a few mutations; now and then random bytes, or a
/// text beyond the limits of a file.
std::string make_input(std::span<const std::string_view> seeds, Random& random);

}  // namespace gradcoll::fuzz
