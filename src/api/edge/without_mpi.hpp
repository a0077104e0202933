// api/edge/without_mpi.hpp - the boundary of calls that may be made without a running MPI: no error
// handler is called, the code is returned and the message kept for GC_Error_string.
#pragma once

#include "api/edge/boundary.hpp"

namespace gradcoll {

/// Runs `body` (returning Status).
template <class Body>
int without_mpi(const char* call, Body&& body) noexcept try {
    try {
        const Status status = body();
        return status.ok() ? MPI_SUCCESS : keep_error(call, status);
    } catch (...) {
        return keep_error(call, status_of_current_exception());
    }
} catch (...) {  // no memory left even for the message
    return MPI_ERR_NO_MEM;
}

}  // namespace gradcoll
