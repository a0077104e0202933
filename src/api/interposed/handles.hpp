// api/interposed/handles.hpp - MPI handles as the interposer passes them, whether the MPI library
// has pointers (Open MPI) or ints (MPICH), and handles of Fortran, which only the MPI library can
// convert.
#pragma once

#include <type_traits>

#include "api/edge/request.hpp"
#include "base/interposer_table.h"

namespace gradcoll {

template <class Handle>
Handle handle_of(GC_Handle bits) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<Handle>(bits);  // NOLINT: what bits_of() made
    else
        return static_cast<Handle>(bits);
}

template <class Handle>
GC_Handle bits_of(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<GC_Handle>(handle);
    else
        return static_cast<GC_Handle>(handle);
}

ReduceArguments arguments_of(const GC_Reduce_call& call);

GC_Handle comm_of_fortran(int handle) noexcept;
GC_Handle datatype_of_fortran(int handle) noexcept;
GC_Handle op_of_fortran(int handle) noexcept;
GC_Handle info_of_fortran(int handle) noexcept;
GC_Handle request_of_fortran(int handle) noexcept;
int request_to_fortran(const void* request) noexcept;

}  // namespace gradcoll
