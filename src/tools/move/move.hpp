// move/move.hpp - `gradcoll move`.
#pragma once

namespace gradcoll::move {

/// Runs `gradcoll move`; argv[0] is "move". Returns the exit status: 0, 1 if there is no such plan
/// or a plan is wrong, 2 for an error of the user.
int run(int argc, const char* const* argv);

}  // namespace gradcoll::move
