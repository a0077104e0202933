// api/device_allreduce.hpp - allreduces some of whose buffers are memory of a device. Only this
// rank knows that; what the other ranks see is the same as of a call on host memory.
#pragma once

#include "api/comm_context.hpp"
#include "api/request.hpp"
#include "api/route.hpp"
#include "device/plugin.hpp"

namespace gradcoll {

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

/// pass_allreduce() through copies in host memory, unless the MPI library says that it reaches
/// devices. `context`: null if the communicator has none.
Outcome pass_device_allreduce(CommContext* context, const ReduceArguments& arguments,
                              const CallMemory& memory);

/// The result on a tree of one rank.
Status copy_to_self_on_device(CommContext& context, const ReduceArguments& arguments,
                              const CallShape& shape, const CallMemory& memory);

/// The arguments with both buffers in the memory of one place: an input that lies elsewhere than
/// the result has been copied there, and the call is in place. `memory` is changed alike. Errors:
/// those of devices.
Result<ReduceArguments> bring_together(CommContext& context, const ReduceArguments& arguments,
                                       const CallShape& shape, CallMemory& memory);

/// What the other ranks do with host memory and an engine of the host, with copies of the device's.
Status run_on_host_from_device(CommContext& context, const ReduceArguments& arguments,
                               const CallShape& shape, DeviceSide& side);

/// A copy of memory of the device in the host's; waits for it.
Status copy_from_device(DeviceSide& side, void* to, const void* from_dev, std::size_t size_bytes);

}  // namespace gradcoll
