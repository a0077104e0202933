// base/small_stack.hpp - work that needs more of a stack than threads of a program may have.
#pragma once

#include <functional>

namespace gradcoll {

/// Runs `work` here, or, where less than 256 KiB of this thread's stack are left, on a thread that
/// is made for it, while this one waits. What `work` throws is thrown here; where no thread can be
/// made, it runs here as well. Nothing in it may rest on which thread it is.
void run_with_room_on_stack(const std::function<void()>& work);

}  // namespace gradcoll
