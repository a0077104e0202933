// api/edge/call_memory.hpp - which memory the buffers of a call lie in: the host's, or a device's.
// Only this rank knows; what the other ranks see of the call is the same.
#pragma once

#include <cstddef>

#include "api/edge/request.hpp"
#include "device/plugin.hpp"

namespace gradcoll {

/// The memory of a buffer, whatever its datatype.
struct BufferExtent {
    MPI_Aint shift = 0;  ///< from the buffer's address to its first byte
    std::size_t size_bytes = 0;

    std::byte* first_byte(const void* buffer) const {
        return const_cast<std::byte*>(static_cast<const std::byte*>(buffer)) + shift;
    }
};
BufferExtent extent_of(MPI_Count count, MPI_Datatype datatype);

/// Number of the device, or host_memory, by buffer.
struct CallMemory {
    int send = host_memory;  ///< in place: as `receive`
    int receive = host_memory;

    bool any_device() const { return send >= 0 || receive >= 0; }
    /// Only the MPI library may touch some of it.
    bool any_unserved() const { return send == unserved_device || receive == unserved_device; }
    /// One that takes part; only if any_device().
    int device() const { return receive >= 0 ? receive : send; }
};
/// Of valid arguments. Derived types: where their first byte is.
CallMemory memory_of(const ReduceArguments& arguments);
/// The same for plain types, with fewer questions.
CallMemory memory_of(const ReduceArguments& arguments, const CallShape& shape);

}  // namespace gradcoll
