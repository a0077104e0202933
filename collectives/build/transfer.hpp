// collectives/build/transfer.hpp - a schedule under construction, and how one message becomes steps
// of it: directly from memory if it is one range, through a scratch slot if it is several or
// encoded.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/plan/hazards.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/plan/range.hpp"
#include "collectives/plan/schedule.hpp"

namespace gradcoll {

/// StepList hands out scratch, adds steps, and finds what each must wait for.
class StepList {
  public:
    /// `schedule` must have count_elems, first elements and work_bytes set.
    StepList(const PlanSpec& spec, Schedule schedule);

    /// Returns a new piece of scratch for a message.
    Slot message_slot(std::uint64_t size_bytes);
    /// Returns a slot inside an existing one.
    Slot slot_at(std::uint64_t offset_bytes, std::uint64_t size_bytes);
    const SlotExtent& extent(Slot slot) const { return schedule_.slots[slot.index]; }

    /// Appends `step`; its dependencies follow from what it and the steps before it read and write.
    void add(Step step);

    /// Returns the schedule. Errors: internal if a step waits for more steps than Step::dep_count
    /// can count.
    Result<Schedule> finish() &&;

  private:
    std::vector<std::uint32_t> without_implied(const std::vector<std::uint32_t>& deps) const;

    const PlanSpec& spec_;
    Schedule schedule_;
    Hazards hazards_;
    std::size_t most_deps_ = 0;
};

/// A Parcel is a message in scratch: the whole, and the place of each of its ranges.
struct Parcel {
    Slot message;
    std::vector<Slot> pieces;
};

/// Transfer appends the steps of messages at one level and stage. Keeps a reference to `steps`.
class Transfer {
  public:
    Transfer(const PlanSpec& spec, StepList& steps) : spec_(spec), steps_(steps) {}

    /// Sets level number and stage of the steps that follow.
    void at(std::uint8_t level, int stage);

    /// Returns room for the ranges, one after another, each encoded with `codec`; behind a header
    /// if the codec is lossy.
    Parcel parcel(const std::vector<Range>& ranges, CodecId codec);

    void send(int peer, Slot from, Range range, CodecId codec);
    void recv(int peer, Slot to, Range range, CodecId codec);
    void copy(Slot from, Slot to, Range range);
    void encode(Slot from, Slot to, Range range, CodecId codec);
    void decode(Slot from, Slot to, Range range, CodecId codec);
    /// Adds a reduce step if `codec` is exact, else decode_reduce.
    void reduce(Slot from, Slot to, Range range, CodecId codec, bool from_input);
    /// Copies encoded bytes from one place in scratch to another.
    void copy_encoded(std::uint64_t from_bytes, std::uint64_t to_bytes, std::uint64_t size_bytes,
                      Range range);

    /// Sends the values of the ranges in `source`, directly if they are one range.
    void send_values(const Message& message, Slot source);
    /// Receives values into their ranges in `target`, directly if they are one range.
    void recv_values(const Message& message, Slot target);

    const PlanSpec& spec() const { return spec_; }
    StepList& steps() { return steps_; }

  private:
    Step step(StepKind kind, Slot from, Slot to, Range range, CodecId codec) const;
    void add_message(int peer, Step message);

    const PlanSpec& spec_;
    StepList& steps_;
    std::uint8_t level_ = 0;
    std::uint16_t stage_ = 0;
};

/// Returns the range of a message in scratch: its elements, numbered from 0.
inline Range whole(const Message& message) {
    return {0, message.count_elems()};
}

}  // namespace gradcoll
