// base/spare_room.hpp - what a program may have too little of for the library: stack of a thread,
// and address space.
#pragma once

#include <functional>

namespace gradcoll {

/// Runs `work` here, or, where less than 256 KiB of this thread's stack are left, on a thread that
/// is made for it, while this one waits. What `work` throws is thrown here; where no thread can be
/// made, it runs here as well. Nothing in it may rest on which thread it is.
void run_with_room_on_stack(const std::function<void()>& work);

/// Sets memory aside at the begin of MPI, while there is some, for the time when the library needs
/// memory first: a program that has used up by then all that it may have would otherwise get errors
/// of calls that its MPI library alone could still serve. Nothing but address space is taken. If
/// there is none to be had, nothing is set aside. Not thread safe.
void set_spare_memory_aside() noexcept;

/// Makes it memory like any other; once, then nothing. Thread safe.
void free_spare_memory() noexcept;

}  // namespace gradcoll
