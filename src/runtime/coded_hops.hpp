// runtime/coded_hops.hpp - which messages of a schedule leave as plain elements, and are encoded
// and decoded on their way (Lane::start_coded_send).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan/schedule.hpp"

namespace gradcoll {

/// CodedHops tells which messages travel to and from ranks whose way encodes, and have an encoded
/// form that is needed for nothing else: a send of what encode steps made for it alone, and a
/// receive of what is only added to something. That is so at both ends of a message of the way up,
/// and at neither of one of the way down: there the owner decodes what it has encoded, and others
/// pass it on. Immutable.
class CodedHops {
  public:
    CodedHops() = default;
    /// Takes `used_bytes` of the scratch for used already. `peers` (ascending) are the ranks whose
    /// way encodes.
    CodedHops(const Schedule& schedule, std::size_t elem_bytes, std::uint64_t used_bytes,
              std::span<const int> peers);

    bool empty() const { return hops_.empty(); }
    /// Returns whether a send or receive has plain elements.
    bool has(std::size_t message) const { return kind_of(message) == Kind::message; }
    /// Returns whether an encode step is done by nobody here.
    bool leaves(std::size_t encode) const { return kind_of(encode) == Kind::encode; }
    /// Returns whether the payload of a decode_reduce step is plain elements.
    bool is_decoded(std::size_t step) const { return kind_of(step) == Kind::decoded; }
    /// Returns the send that has the elements of an encode step for which leaves() holds.
    std::uint32_t send_of(std::size_t encode) const { return hops_[encode].first; }
    /// Returns the encode steps of a send, in the order of their elements.
    std::span<const std::uint32_t> encodes_of(std::size_t send) const {
        return {encodes_.data() + hops_[send].first, hops_[send].count};
    }
    /// Returns where the elements of a receive come to, or where those of a decode_reduce step are,
    /// as an offset from the begin of the scratch.
    std::uint64_t offset_bytes(std::size_t step) const { return hops_[step].offset_bytes; }
    /// Returns the number of the first encode step of a send among those of all sends.
    std::size_t first_run_of(std::size_t send) const { return hops_[send].first; }
    std::size_t run_count() const { return encodes_.size(); }
    /// Returns the size of the scratch, `used_bytes` included.
    std::uint64_t scratch_bytes() const { return scratch_bytes_; }

  private:
    class Finder;
    enum class Kind : std::uint8_t { none, message, encode, decoded };
    struct Hop {
        std::uint64_t offset_bytes = 0;
        std::uint32_t first =
            0;  ///< for a send its first entry in encodes_, for an encode step its send
        std::uint32_t count = 0;
        Kind kind = Kind::none;
    };
    Kind kind_of(std::size_t step) const { return empty() ? Kind::none : hops_[step].kind; }

    std::vector<Hop> hops_;  ///< one per step; empty if no message is coded
    std::vector<std::uint32_t> encodes_;
    std::uint64_t scratch_bytes_ = 0;
};

}  // namespace gradcoll
