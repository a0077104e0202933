// base/spare_memory.hpp - address space that is set aside while there is some, for the time when
// the library needs memory first. A program that has used up by then all that it may have would
// otherwise get errors of calls that its MPI library alone could still serve.
#pragma once

namespace gradcoll {

/// Sets memory aside at the begin of MPI; nothing but address space is taken. If there is none to
/// be had, nothing is set aside. Not thread safe.
void set_spare_memory_aside() noexcept;

/// Makes it memory like any other; once, then nothing. Thread safe.
void free_spare_memory() noexcept;

}  // namespace gradcoll
