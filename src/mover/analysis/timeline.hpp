// mover/analysis/timeline.hpp - computes when each operator runs; a rank is followed until it waits
// for an operator that has no time yet.
#pragma once

#include <optional>
#include <utility>

#include "base/status.hpp"
#include "mover/program/program.hpp"

namespace gradcoll::mover {

/// Runs all ranks' operators, each after the one before it and after the operator of another rank
/// that it needs. `start_of(rank, op, ready)` says when an operator starts, not before `ready`; it
/// is called once for each operator, in the order of its rank. Returns nothing as soon as start_of
/// does, or if ranks wait for each other in a circle. Complexity: linear in operators.
template <class StartOf>
std::optional<Starts> run_in_order(const Program& program, StartOf&& start_of) {
    Starts starts(program.ranks.size());
    // waiting[r] lists the ranks that wait until rank r has come further.
    std::vector<std::vector<std::size_t>> waiting(program.ranks.size());
    std::vector<std::size_t> can_go;
    for (std::size_t r = program.ranks.size(); r-- > 0;) {
        can_go.push_back(r);
        starts[r].reserve(program.ranks[r].operators.size());
    }
    std::size_t left = program.ranks.size();
    while (!can_go.empty()) {
        const std::size_t r = can_go.back();
        can_go.pop_back();
        const auto& operators = program.ranks[r].operators;
        const std::size_t before = starts[r].size();
        while (starts[r].size() < operators.size()) {
            const std::size_t n = starts[r].size();
            const Operator& op = operators[n];
            Tick ready = n == 0 ? 0 : starts[r][n - 1] + operators[n - 1].duration;
            if (op.needs_rank >= 0) {
                const auto from = static_cast<std::size_t>(op.needs_rank);
                const auto needed = static_cast<std::size_t>(op.needs_operator);
                if (starts[from].size() <= needed) {
                    waiting[from].push_back(r);
                    break;
                }
                ready =
                    std::max(ready, starts[from][needed] +
                                        program.ranks[from].operators[needed].duration + op.delay);
            }
            const std::optional<Tick> start = start_of(r, n, ready);
            if (!start) return {};
            starts[r].push_back(*start);
        }
        if (starts[r].size() == operators.size()) --left;
        // Ranks that waited for this one try again, but only if it has come further; otherwise they
        // would try forever.
        if (starts[r].size() == before) continue;
        for (const std::size_t other : waiting[r]) can_go.push_back(other);
        waiting[r].clear();
    }
    return left == 0 ? std::optional(std::move(starts)) : std::nullopt;
}

/// Returns when operators start if none waits for memory or moves. Errors: invalid_argument if
/// ranks wait for each other in a circle.
Result<Starts> timeline_of(const Program& program);

/// Returns when an operator of the rank has ended; -1 stands for the begin of the step.
Tick end_of(const RankProgram& rank, const std::vector<Tick>& starts, std::int32_t op);

/// Returns when the last operator of all ranks has ended.
Tick end_of(const Program& program, const Starts& starts);

}  // namespace gradcoll::mover
