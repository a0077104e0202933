// mover/analysis/timeline.hpp - computes when each operator runs; a rank is followed until it waits
// for an operator that has no time yet.
#pragma once

#include <algorithm>
#include <optional>
#include <tuple>
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

/// Returns, by rank and operator, the longest way from the operator's start to the end of the step.
/// The order of `starts`, from the last to the first, is one in which each operator comes before
/// those that it needs. `rest_of(rank, op, rest)` says how long the way is, not less than `rest`;
/// it is called once for each operator, in that order. Complexity: n log n in operators.
template <class RestOf>
Starts run_back(const Program& program, const Starts& starts, RestOf&& rest_of) {
    std::vector<std::pair<std::size_t, std::size_t>> order;
    Starts rest;
    for (std::size_t r = 0; r < starts.size(); ++r) {
        rest.emplace_back(starts[r].size());
        for (std::size_t op = 0; op < starts[r].size(); ++op) order.emplace_back(r, op);
    }
    const auto place_of = [&](const std::pair<std::size_t, std::size_t>& at) {
        const Tick start = starts[at.first][at.second];
        // Among operators that start together, those without a duration come first.
        const bool lasts = program.ranks[at.first].operators[at.second].duration > 0;
        return std::tuple(start, lasts, at.second);
    };
    std::sort(order.begin(), order.end(),
              [&](const auto& a, const auto& b) { return place_of(a) > place_of(b); });
    for (const auto& [r, n] : order) {
        const Operator& op = program.ranks[r].operators[n];
        rest[r][n] = rest_of(r, n, rest[r][n] + op.duration);
        if (n > 0) rest[r][n - 1] = std::max(rest[r][n - 1], rest[r][n]);
        if (op.needs_rank < 0) continue;
        Tick& needed = rest[static_cast<std::size_t>(op.needs_rank)]
                           [static_cast<std::size_t>(op.needs_operator)];
        needed = std::max(needed, op.delay + rest[r][n]);
    }
    return rest;
}

/// Returns when operators start if none waits for memory or moves. Errors: invalid_argument if
/// ranks wait for each other in a circle.
Result<Starts> timeline_of(const Program& program);

/// Returns when an operator of the rank has ended; -1 stands for the begin of the step.
Tick end_of(const RankProgram& rank, const std::vector<Tick>& starts, std::int32_t op);

/// Returns when the last operator of all ranks has ended.
Tick end_of(const Program& program, const Starts& starts);

}  // namespace gradcoll::mover
