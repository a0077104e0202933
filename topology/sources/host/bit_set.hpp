// topology/sources/host/bit_set.hpp - a set of CPUs or NUMA nodes as hwloc's files write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gradcoll {

/// Perhaps all numbers beyond the words, too ("0xf...f,0x00000000").
class BitSet {
  public:
    static constexpr std::size_t max_bits = 65536;

    /// "0x00000003,0xffffffff": words of 32 bits, the highest first. Nothing if it is not one.
    static std::optional<BitSet> from(std::string_view text);
    static BitSet of(std::uint32_t bit);

    bool operator==(const BitSet& other) const { return within(other) && other.within(*this); }
    bool within(const BitSet& other) const;
    bool meets(const BitSet& other) const;
    bool empty() const;
    bool endless() const { return beyond_ != 0; }
    void add(const BitSet& other);

  private:
    std::uint32_t word(std::size_t i) const { return i < words_.size() ? words_[i] : beyond_; }

    std::vector<std::uint32_t> words_;  ///< the lowest first
    std::uint32_t beyond_ = 0;          ///< what all further words are
};

}  // namespace gradcoll
