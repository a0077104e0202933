// collectives/build/flexreduce/step_list.cpp - a schedule under construction.
#include "collectives/build/flexreduce/step_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace gradcoll {
namespace {

constexpr std::uint64_t message_alignment = 64;

std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + message_alignment - 1) / message_alignment * message_alignment;
}

}  // namespace

StepList::StepList(const PlanSpec& spec, Schedule schedule)
    : spec_(spec), schedule_(std::move(schedule)) {
    schedule_.scratch_bytes = aligned(schedule_.work_bytes);
}

Slot StepList::message_slot(std::uint64_t size_bytes) {
    const Slot slot = slot_at(schedule_.scratch_bytes, size_bytes);
    schedule_.scratch_bytes += aligned(size_bytes);
    return slot;
}

Slot StepList::slot_at(std::uint64_t offset_bytes, std::uint64_t size_bytes) {
    schedule_.slots.push_back({offset_bytes, size_bytes});
    return Slot::scratch(static_cast<std::uint32_t>(schedule_.slots.size() - 1));
}

void StepList::add(Step step) {
    const auto index = static_cast<std::uint32_t>(schedule_.steps.size());
    const auto deps =
        without_implied(hazards_.record(index, footprint_of(step, geometry_of(schedule_, spec_))));
    step.first_dep = static_cast<std::uint32_t>(schedule_.deps.size());
    most_deps_ = std::max(most_deps_, deps.size());
    step.dep_count = static_cast<std::uint16_t>(deps.size());
    schedule_.deps.insert(schedule_.deps.end(), deps.begin(), deps.end());
    if (step.kind == StepKind::send) ++schedule_.send_count;
    if (step.kind == StepKind::recv) ++schedule_.recv_count;
    if (step.kind == StepKind::encode && spec_.feedback)
        schedule_.residual_elems += step.range.size();
    schedule_.steps.push_back(step);
}

Result<Schedule> StepList::finish() && {
    constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    if (most_deps_ > most)
        return Status(Code::internal,
                      fmt::format("a step waits for {} others: at most {}", most_deps_, most));
    schedule_.steps.shrink_to_fit();
    schedule_.deps.shrink_to_fit();
    schedule_.slots.shrink_to_fit();
    return std::move(schedule_);
}

/// Drops what one of the others waits for itself.
std::vector<std::uint32_t> StepList::without_implied(const std::vector<std::uint32_t>& deps) const {
    std::vector<std::uint32_t> implied;
    for (std::uint32_t dep : deps) {
        const Step& step = schedule_.steps[dep];
        const auto first = schedule_.deps.begin() + step.first_dep;
        implied.insert(implied.end(), first, first + step.dep_count);
    }
    std::sort(implied.begin(), implied.end());
    std::vector<std::uint32_t> kept;
    for (std::uint32_t dep : deps)
        if (!std::binary_search(implied.begin(), implied.end(), dep)) kept.push_back(dep);
    return kept;
}

}  // namespace gradcoll
