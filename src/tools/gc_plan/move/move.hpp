// gc_plan/move/move.hpp - `gc_plan move`.
#pragma once

namespace gc_plan::move {

/// argv[0] is "move". The exit status of the program: 0, 1 where there is no such plan or a plan is
/// wrong, 2 for what the user wrote.
int run(int argc, const char* const* argv);

}  // namespace gc_plan::move
