// runtime/coded_hops.hpp - which messages of a schedule leave as plain elements, and are encoded
// and decoded on their way (Lane::start_coded_send).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan/range.hpp"
#include "collectives/plan/schedule.hpp"

namespace gradcoll {

/// CodedHops tells which messages travel to and from ranks whose way encodes, and have an encoded
/// form that no rank needs. On the way up that is what encode steps made for one send alone, and
/// what is only added to something where it arrives: so at both ends of a message. On the way down
/// it is what an owner has encoded, if no rank passes such encodings on
/// (Plan::encodings_go_one_hop): then they are decoded at their way's both ends. Immutable.
class CodedHops {
  public:
    /// Among says with whom messages are coded, and whether those of the way down are.
    struct Among {
        std::span<const int> peers = {};  ///< ranks whose way encodes, ascending
        bool encodings_go_one_hop = false;
    };
    /// A Run is a part of what a send has: elements of a vector.
    struct Run {
        Slot place;
        Range range;
        enum class Echo : std::uint8_t { none, in_place, in_scratch };
        Echo echo = Echo::none;  ///< where what decoding gives goes, if its own rank needs that
        std::uint64_t echo_offset_bytes = 0;  ///< offset in the scratch
    };
    /// A Wait says that a step has to wait for another, whatever the schedule says.
    struct Wait {
        std::uint32_t step = 0;
        std::uint32_t before = 0;
    };

    CodedHops() = default;
    /// Takes `used_bytes` of the scratch for used already.
    CodedHops(const Schedule& schedule, std::size_t elem_bytes, std::uint64_t used_bytes,
              const Among& among);

    bool empty() const { return hops_.empty(); }
    /// Returns whether a send or receive has plain elements.
    bool has(std::size_t message) const {
        return kind_of(message) == Kind::message || kind_of(message) == Kind::landing;
    }
    /// Returns whether the elements of an encode step are read by a send in its place.
    bool leaves(std::size_t encode) const { return kind_of(encode) == Kind::encode; }
    /// Returns whether a local step has nothing to do.
    bool is_idle(std::size_t step) const {
        return kind_of(step) == Kind::encode || kind_of(step) == Kind::idle;
    }
    /// Returns whether the payload of a decode or decode_reduce step is plain elements.
    bool is_decoded(std::size_t step) const { return kind_of(step) == Kind::decoded; }
    /// Returns whether the elements of a receive come to where its decode step would put them, or
    /// are added there if that is a decode_reduce step.
    bool lands(std::size_t recv) const { return kind_of(recv) == Kind::landing; }
    /// Returns that decode step.
    std::uint32_t decode_of(std::size_t recv) const { return hops_[recv].first; }
    /// Returns the send that has the elements of an encode step for which leaves() holds.
    std::uint32_t send_of(std::size_t encode) const { return hops_[encode].first; }
    /// Returns what a send has, in the order of its elements.
    std::span<const Run> runs_of(std::size_t send) const {
        return {runs_.data() + hops_[send].first, hops_[send].count};
    }
    /// Returns where the elements of a receive come to, or where those of a step that is_decoded()
    /// are, as an offset from the begin of the scratch.
    std::uint64_t offset_bytes(std::size_t step) const { return hops_[step].offset_bytes; }
    /// Returns the number of the first run of a send among those of all sends.
    std::size_t first_run_of(std::size_t send) const { return hops_[send].first; }
    std::size_t run_count() const { return runs_.size(); }
    std::span<const Wait> waits() const { return waits_; }
    /// Returns the size of the scratch, `used_bytes` included.
    std::uint64_t scratch_bytes() const { return scratch_bytes_; }

  private:
    class Finder;
    class WayDown;
    enum class Kind : std::uint8_t { none, message, landing, encode, idle, decoded };
    struct Hop {
        std::uint64_t offset_bytes = 0;
        std::uint32_t first = 0;  ///< for a send its first run, for an encode step its send, for a
                                  ///< receive that lands its decode step
        std::uint32_t count = 0;
        Kind kind = Kind::none;
    };
    Kind kind_of(std::size_t step) const { return empty() ? Kind::none : hops_[step].kind; }
    std::uint64_t take_scratch(std::uint64_t size_bytes);

    std::vector<Hop> hops_;  ///< one per step; empty if no message is coded
    std::vector<Run> runs_;
    std::vector<Wait> waits_;
    std::uint64_t scratch_bytes_ = 0;
};

}  // namespace gradcoll
