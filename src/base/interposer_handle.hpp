// base/interposer_handle.hpp - MPI handles as base/interposer_table.h has them, whether the MPI
// library has pointers (Open MPI) or ints (MPICH).
#pragma once

#include <type_traits>

#include "base/interposer_table.h"

namespace gradcoll {

template <class Handle>
Handle handle_of(GC_Mpi_handle bits) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<Handle>(bits);  // NOLINT: what bits_of() made
    else
        return static_cast<Handle>(bits);
}

template <class Handle>
GC_Mpi_handle bits_of(Handle handle) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<GC_Mpi_handle>(handle);
    else
        return static_cast<GC_Mpi_handle>(handle);
}

}  // namespace gradcoll
