// mover/check/rules.hpp - the rules one by one, in the order in which they may rely on each other.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "base/status.hpp"
#include "base/text.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Names in it are from files.
template <class... Values>
Status broken(fmt::format_string<Values...> what, Values&&... values) {
    return {Code::invalid_argument,
            with_plain_characters(fmt::format(what, std::forward<Values>(values)...))};
}

/// Numbers are within what the other rules can add up.
Status check_numbers(const Program& program, const Rooms& rooms, const MovePlan& plan);
Status check_operators(const Program& program, const MovePlan& plan);
/// Each move by itself: which uses it lies between, and how long it takes.
Status check_moves(const Program& program, const Rooms& rooms, const MovePlan& plan);
Status check_streams(const Program& program, const MovePlan& plan);
/// Collectives have their links for themselves, and find what they need in the host.
Status check_collectives(const Program& program, const MovePlan& plan);
/// Of moves and of collectives that hold lanes.
Status check_rates(const Program& program, const Rooms& rooms, const MovePlan& plan);
Status check_memory(const Program& program, const Rooms& rooms, const MovePlan& plan);
Status check_pools(const Program& program, const Rooms& rooms, const MovePlan& plan);

}  // namespace gradcoll::mover
