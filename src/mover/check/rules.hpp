// mover/check/rules.hpp - the rules one by one, in the order in which each may rely on those
// before.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "base/status.hpp"
#include "base/text.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Makes the error for a broken rule; names in its text may come from files and are made printable.
template <class... Values>
Status broken(fmt::format_string<Values...> what, Values&&... values) {
    return {Code::invalid_argument,
            with_plain_characters(fmt::format(what, std::forward<Values>(values)...))};
}

/// So many steps in a row are looked at.
inline constexpr Tick steps_in_a_row = 3;

/// Returns the span in a later step of the row; a negative number is an earlier one.
inline Span in_step(Span span, Tick step, const MovePlan& plan) {
    return {span.start + step * plan.step_ticks, span.end + step * plan.step_ticks};
}

/// Checks that all numbers are small enough for the sums of the other rules.
Status check_numbers(const Program& program, const Rooms& rooms, const MovePlan& plan);
Status check_operators(const Program& program, const MovePlan& plan);
/// Checks each move by itself: the uses it lies between, and its duration.
Status check_moves(const Program& program, const Rooms& rooms, const MovePlan& plan);
Status check_streams(const Program& program, const MovePlan& plan);
/// Checks that collectives have their links for themselves, and find in the host what they need
/// there.
Status check_collectives(const Program& program, const MovePlan& plan);
/// Checks the rates of moves and of collectives that hold lanes.
Status check_rates(const Program& program, const Rooms& rooms, const MovePlan& plan);
Status check_memory(const Program& program, const Rooms& rooms, const MovePlan& plan);
Status check_pools(const Program& program, const Rooms& rooms, const MovePlan& plan);

}  // namespace gradcoll::mover
