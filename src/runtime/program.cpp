#include "runtime/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/notices.hpp"

namespace gradcoll {
namespace {

std::span<const std::uint32_t> deps_of(const Schedule& schedule, const Step& step) {
    return {schedule.deps.data() + step.first_dep, step.dep_count};
}

}  // namespace

Result<Program> Program::make(const Schedule& schedule, std::size_t elem_bytes,
                              const ProgramPeers& peers) {
    if (schedule.steps.size() > max_steps)
        return Status(Code::internal, fmt::format("schedule of {} steps: at most {} can be run",
                                                  schedule.steps.size(), max_steps));
    Program program(schedule);
    program.place_residuals();
    program.find_openings(elem_bytes, peers.silent);
    GRADCOLL_TRY(take(program.blocks_, BlockLayout::make(schedule, elem_bytes)));
    program.packed_ = PackedLayout(schedule, program.blocks_.scratch_bytes(), peers.plain);
    program.coded_ = CodedHops(schedule, elem_bytes, program.packed_.scratch_bytes(), peers.coded);
    GRADCOLL_TRY(program.link_successors());
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
        if (program.wait_counts_[i] == 0) program.roots_.push_back(i);
        if (is_message(schedule.steps[i].kind)) ++program.message_count_;
    }
    return program;
}

/// Returns the step to wait for in place of `dep`. Whoever waits until an encode step has read its
/// elements waits for the send that reads them in its place.
std::uint32_t Program::waited_for(std::uint32_t step, std::uint32_t dep) const {
    if (!coded_.leaves(dep)) return dep;
    return coded_.send_of(dep) == step ? dep : coded_.send_of(dep);
}

Status Program::link_successors() {
    const auto count = static_cast<std::uint32_t>(step_count());
    std::vector<CodedHops::Wait> waits;
    waits.reserve(schedule_->deps.size() + coded_.waits().size());
    for (std::uint32_t i = 0; i < count; ++i)
        for (const std::uint32_t said : deps_of(*schedule_, schedule_->steps[i])) {
            const std::uint32_t dep = said < i ? waited_for(i, said) : said;
            if (dep >= i)
                return Status(
                    Code::internal,
                    fmt::format("step {} waits for step {}, which is not before it", i, dep));
            waits.push_back({i, dep});
        }
    for (const CodedHops::Wait& wait : coded_.waits())
        waits.push_back({wait.step, waited_for(wait.step, wait.before)});
    std::stable_sort(waits.begin(), waits.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
    first_successor_.assign(count + std::size_t{1}, 0);
    wait_counts_.assign(count, 0);
    for (const CodedHops::Wait& wait : waits) {
        ++first_successor_[wait.before + 1];
        ++wait_counts_[wait.step];
    }
    for (std::size_t i = 0; i < count; ++i) first_successor_[i + 1] += first_successor_[i];
    successors_.resize(waits.size());
    std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
    for (const CodedHops::Wait& wait : waits) successors_[next[wait.before]++] = wait.step;
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

/// Finds the opening of each peer. Messages of one pair in one direction have stages, and those of
/// one stage an order, that are the same at both ends.
void Program::find_openings(std::size_t elem_bytes, std::span<const int> silent_peers) {
    is_opening_.assign(step_count(), 0);
    std::map<std::pair<StepKind, int>, std::size_t> first;
    for (std::size_t i = 0; i < step_count(); ++i) {
        const Step& step = schedule_->steps[i];
        const auto bytes = static_cast<std::size_t>(step.range.size()) * elem_bytes;
        if (!is_message(step.kind) || step.codec != CodecId::exact ||
            !SignatureNotice::precedes(bytes) ||
            std::binary_search(silent_peers.begin(), silent_peers.end(), step.peer))
            continue;
        const auto [known, is_new] = first.try_emplace({step.kind, step.peer}, i);
        if (!is_new && step.stage < schedule_->steps[known->second].stage) known->second = i;
    }
    for (const auto& [pair, opening] : first) is_opening_[opening] = 1;
}

}  // namespace gradcoll
