// tests/mover/mutations.hpp - single changes to any plan that break a rule.
#pragma once

#include <array>
#include <string_view>

#include "mover/program/move_plan.hpp"
#include "mover/random_steps.hpp"

namespace gradcoll::mover {

struct Subject {
    const Program& program;
    const Rooms& rooms;
    const MovePlan& plan;  ///< a right plan
};

/// A Mutate changes `plan`, a copy of the subject's, at a random place; it returns false if there
/// is no such place.
using Mutate = bool (*)(const Subject& subject, Chance& chance, MovePlan& plan);

struct Mutation {
    std::string_view name;
    Mutate mutate;
};

const std::vector<Mutation>& mutations();

/// Moves the prefetch one tick later than its need and the next prefetch allow.
void delay_prefetch(const MovePlan& plan, std::size_t rank, std::size_t move, MovePlan& out);

}  // namespace gradcoll::mover
