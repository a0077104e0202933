// collectives/build/flexreduce/step_list.hpp - a schedule under construction: hands out scratch,
// adds steps, finds what each must wait for.
#pragma once

#include <cstdint>

#include "collectives/plan/hazards.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/plan/schedule.hpp"

namespace gradcoll {

class StepList {
  public:
    /// `schedule` brings count_elems, first elements and work_bytes.
    StepList(const PlanSpec& spec, Schedule schedule);

    /// A new piece of scratch for a message.
    Slot message_slot(std::uint64_t size_bytes);
    /// A slot inside an existing one.
    Slot slot_at(std::uint64_t offset_bytes, std::uint64_t size_bytes);
    const SlotExtent& extent(Slot slot) const { return schedule_.slots[slot.index]; }

    /// Appends `step`; its dependencies follow from what it and the steps before it read and write.
    void add(Step step);

    /// Errors: internal if a step waits for more steps than Step::dep_count can say.
    Result<Schedule> finish() &&;

  private:
    std::vector<std::uint32_t> without_implied(const std::vector<std::uint32_t>& deps) const;

    const PlanSpec& spec_;
    Schedule schedule_;
    Hazards hazards_;
    std::size_t most_deps_ = 0;
};

}  // namespace gradcoll
