#include "runtime/program.hpp"

#include <fmt/format.h>

namespace gradcoll {
namespace {

std::span<const std::uint32_t> deps_of(const Schedule& schedule, const Step& step) {
    return {schedule.deps.data() + step.first_dep, step.dep_count};
}

}  // namespace

Result<Program> Program::make(const Schedule& schedule, std::size_t elem_bytes,
                              std::span<const int> plain_peers, std::span<const int> coded_peers) {
    if (schedule.steps.size() > max_steps)
        return Status(Code::internal, fmt::format("schedule of {} steps: at most {} can be run",
                                                  schedule.steps.size(), max_steps));
    Program program(schedule);
    program.place_residuals();
    GRADCOLL_TRY(take(program.blocks_, BlockLayout::make(schedule, elem_bytes)));
    program.packed_ = PackedLayout(schedule, program.blocks_.scratch_bytes(), plain_peers);
    program.coded_ = CodedHops(schedule, elem_bytes, program.packed_.scratch_bytes(), coded_peers);
    GRADCOLL_TRY(program.link_successors());
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
        if (schedule.steps[i].dep_count == 0) program.roots_.push_back(i);
        if (is_message(schedule.steps[i].kind)) ++program.message_count_;
    }
    return program;
}

/// Whoever waits until an encode step has read its elements waits for the send that reads them in
/// its place.
std::uint32_t Program::waited_for(std::uint32_t step, std::uint32_t dep) const {
    if (!coded_.leaves(dep)) return dep;
    return coded_.send_of(dep) == step ? dep : coded_.send_of(dep);
}

Status Program::link_successors() {
    const std::size_t count = step_count();
    first_successor_.assign(count + 1, 0);
    for (std::uint32_t i = 0; i < count; ++i)
        for (const std::uint32_t said : deps_of(*schedule_, schedule_->steps[i])) {
            const std::uint32_t dep = said < i ? waited_for(i, said) : said;
            if (dep >= i)
                return Status(
                    Code::internal,
                    fmt::format("step {} waits for step {}, which is not before it", i, dep));
            ++first_successor_[dep + 1];
        }
    for (std::size_t i = 0; i < count; ++i) first_successor_[i + 1] += first_successor_[i];
    successors_.resize(schedule_->deps.size());
    std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
    for (std::uint32_t i = 0; i < count; ++i)
        for (const std::uint32_t dep : deps_of(*schedule_, schedule_->steps[i]))
            successors_[next[waited_for(i, dep)]++] = i;
    return {};
}

void Program::place_residuals() {
    residual_first_elem_.assign(step_count(), 0);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < step_count(); ++i) {
        const Step& step = schedule_->steps[i];
        if (step.kind != StepKind::encode) continue;
        residual_first_elem_[i] = first;
        first += step.range.size();
    }
}

}  // namespace gradcoll
