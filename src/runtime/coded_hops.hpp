// runtime/coded_hops.hpp - which messages of a schedule leave as plain elements, and are encoded
// and decoded on their way (Lane::start_coded_send).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan/schedule.hpp"

namespace gradcoll {

/// Those to and from ranks whose way encodes, where the encoded form is needed for nothing else: a
/// send of what encode steps made for it alone, and a receive of what is only added to something.
/// That is so at both ends of a message of the way up, and at neither of one of the way down: there
/// the owner decodes what it has encoded, and others pass it on. Immutable.
class CodedHops {
  public:
    CodedHops() = default;
    /// `used_bytes`: what is taken of the scratch. `peers`: whose way encodes, ascending.
    CodedHops(const Schedule& schedule, std::size_t elem_bytes, std::uint64_t used_bytes,
              std::span<const int> peers);

    bool empty() const { return hops_.empty(); }
    /// Of a send or receive: it has plain elements.
    bool has(std::size_t message) const { return kind_of(message) == Kind::message; }
    /// Of an encode step: nobody here does it.
    bool leaves(std::size_t encode) const { return kind_of(encode) == Kind::encode; }
    /// Of a decode_reduce step: its payload is plain elements.
    bool is_decoded(std::size_t step) const { return kind_of(step) == Kind::decoded; }
    /// The send that has the elements of such an encode step.
    std::uint32_t send_of(std::size_t encode) const { return hops_[encode].first; }
    /// The encode steps of a send, in the order of their elements.
    std::span<const std::uint32_t> encodes_of(std::size_t send) const {
        return {encodes_.data() + hops_[send].first, hops_[send].count};
    }
    /// Where the elements of a receive come to, and of a decode_reduce step are: from the begin of
    /// the scratch.
    std::uint64_t offset_bytes(std::size_t step) const { return hops_[step].offset_bytes; }
    /// The number of the first of them among those of all sends.
    std::size_t first_run_of(std::size_t send) const { return hops_[send].first; }
    std::size_t run_count() const { return encodes_.size(); }
    /// With all that was used before.
    std::uint64_t scratch_bytes() const { return scratch_bytes_; }

  private:
    class Finder;
    enum class Kind : std::uint8_t { none, message, encode, decoded };
    struct Hop {
        std::uint64_t offset_bytes = 0;
        std::uint32_t first = 0;  ///< of a send in encodes_; of an encode step its send
        std::uint32_t count = 0;
        Kind kind = Kind::none;
    };
    Kind kind_of(std::size_t step) const { return empty() ? Kind::none : hops_[step].kind; }

    std::vector<Hop> hops_;  ///< by step; none if no message is coded
    std::vector<std::uint32_t> encodes_;
    std::uint64_t scratch_bytes_ = 0;
};

}  // namespace gradcoll
