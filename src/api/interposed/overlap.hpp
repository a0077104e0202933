// api/interposed/overlap.hpp - an input that lies in the output without MPI_IN_PLACE. The standard
// forbids it and programs do it; only this rank knows, so that the other ranks must not depend on
// it.
#pragma once

#include <cstddef>
#include <memory>

#include "api/edge/request.hpp"

namespace gradcoll {

/// What became of the input.
struct SettledInput {
    /// The MPI library raises an error for this on this rank alone, as it would without us.
    PassReason pass_reason = PassReason::none;
    const void* sendbuf = nullptr;  ///< the caller's, MPI_IN_PLACE, or `copy`
    std::unique_ptr<std::byte[]> copy;

    bool passes() const { return pass_reason != PassReason::none; }
};

/// `in_place_address`: where an input in place would lie in `receive`. An input of no bytes is
/// taken as it is. `mpi_takes_it`: whether this call of the MPI library takes an input there.
SettledInput settle_input(const BufferArgument& send, const BufferArgument& receive,
                          const void* in_place_address,
                          bool mpi_takes_it = mpi_takes_aliased_buffers);

}  // namespace gradcoll
