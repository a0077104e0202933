// mover/check/check.cpp - see check.hpp.
#include "mover/check/check.hpp"

#include "mover/check/rules.hpp"

namespace gradcoll::mover {

Status check_plan(const Program& program, const Rooms& rooms, const MovePlan& plan) {
    GRADCOLL_TRY(check_numbers(program, rooms, plan));
    GRADCOLL_TRY(check_operators(program, plan));
    GRADCOLL_TRY(check_moves(program, rooms, plan));
    GRADCOLL_TRY(check_streams(program, plan));
    GRADCOLL_TRY(check_collectives(program, plan));
    GRADCOLL_TRY(check_rates(program, rooms, plan));
    GRADCOLL_TRY(check_memory(program, rooms, plan));
    return check_pools(program, rooms, plan);
}

}  // namespace gradcoll::mover
