// runtime/program.hpp - a schedule prepared for walking: what a finished step sets free, and where
// to begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "collectives/plan/schedule.hpp"
#include "runtime/block_layout.hpp"
#include "runtime/coded_hops.hpp"
#include "runtime/packed_layout.hpp"

namespace gradcoll {

constexpr bool is_message(StepKind kind) {
    return kind == StepKind::send || kind == StepKind::recv;
}

constexpr bool uses_codec(StepKind kind) {
    return kind == StepKind::encode || kind == StepKind::decode || kind == StepKind::decode_reduce;
}

/// Returns where a message leaves from, or comes to.
constexpr Slot slot_of_message(const Step& message) {
    return message.kind == StepKind::send ? message.from : message.to;
}

/// ProgramPeers lists ranks, ascending, with whom messages are not what they are with others.
struct ProgramPeers {
    std::span<const int> plain = {};   ///< peers with whom no message is packed
    std::span<const int> silent = {};  ///< peers with whom no message is an opening
    CodedHops::Among coded = {};       ///< with whom the lane encodes by itself
};

/// A Program is immutable after make(). It refers to the schedule, which must outlive it.
class Program {
  public:
    /// Errors: internal if a dependency does not point backwards, the schedule has more than
    /// `max_steps` steps, or its encoded blocks do not fit together (BlockLayout).
    static Result<Program> make(const Schedule& schedule, std::size_t elem_bytes,
                                const ProgramPeers& peers = {});

    static constexpr std::size_t max_steps = std::size_t{1} << 24;

    const Schedule& schedule() const { return *schedule_; }
    std::size_t step_count() const { return schedule_->steps.size(); }
    /// Returns the number of sends and receives, which bounds the messages of one chunk that are in
    /// flight.
    std::size_t message_count() const { return message_count_; }
    /// Returns the steps that wait for `step`, ascending.
    std::span<const std::uint32_t> successors(std::size_t step) const {
        return {successors_.data() + first_successor_[step],
                first_successor_[step + 1] - first_successor_[step]};
    }
    /// Returns the steps that wait for nothing, ascending.
    std::span<const std::uint32_t> roots() const { return roots_; }
    /// Returns how many steps the step waits for.
    std::uint32_t wait_count(std::size_t step) const { return wait_counts_[step]; }
    /// Returns whether the message is an opening, the first of more than
    /// SignatureNotice::size_bytes that goes plain to, or comes plain from, its peer: both ends say
    /// the same.
    bool is_opening(std::size_t message) const { return is_opening_[message] != 0; }
    /// Returns where the residual of an encode step begins in the chunk's residuals, in which
    /// encode ranges follow one another in step order.
    std::int64_t residual_first_elem(std::size_t step) const { return residual_first_elem_[step]; }
    const BlockLayout& blocks() const { return blocks_; }
    const PackedLayout& packed() const { return packed_; }
    const CodedHops& coded() const { return coded_; }
    /// Returns the size of the scratch: of the schedule's, of messages whose blocks are put
    /// together, of packed ones, and of those that are decoded on their way.
    std::uint64_t scratch_bytes() const { return coded_.scratch_bytes(); }

  private:
    explicit Program(const Schedule& schedule) : schedule_(&schedule) {}
    std::uint32_t waited_for(std::uint32_t step, std::uint32_t dep) const;
    Status link_successors();
    void place_residuals();
    void find_openings(std::size_t elem_bytes, std::span<const int> silent_peers);

    const Schedule* schedule_;
    std::size_t message_count_ = 0;
    std::vector<std::uint32_t> first_successor_;
    std::vector<std::uint32_t> successors_;
    std::vector<std::uint32_t> roots_;
    std::vector<std::uint32_t> wait_counts_;  ///< one per step
    std::vector<std::int64_t> residual_first_elem_;
    std::vector<std::uint8_t> is_opening_;  ///< one per step
    BlockLayout blocks_;
    PackedLayout packed_;
    CodedHops coded_;
};

}  // namespace gradcoll
