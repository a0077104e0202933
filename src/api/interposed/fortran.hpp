// api/interposed/fortran.hpp - handles of Fortran, which only the MPI library can convert.
#pragma once

#include "base/interposer_table.h"

namespace gradcoll {

GC_Handle comm_of_fortran(int handle) noexcept;
GC_Handle datatype_of_fortran(int handle) noexcept;
GC_Handle op_of_fortran(int handle) noexcept;
GC_Handle info_of_fortran(int handle) noexcept;
GC_Handle request_of_fortran(int handle) noexcept;
int request_to_fortran(const void* request) noexcept;

}  // namespace gradcoll
