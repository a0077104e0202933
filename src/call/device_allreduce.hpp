// call/device_allreduce.hpp - which memory the buffers of an allreduce lie in, and those some
// of whose buffers are memory of a device. Only this rank knows that; what the other ranks see is
// the same as of a call on host memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "device/plugin.hpp"
#include "mpi/request.hpp"
#include "runtime/device/device_area.hpp"
#include "ways/comm_context.hpp"

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

/// Of valid arguments. Derived types: where their first byte is.
CallMemory memory_of(const CallArguments& arguments);
/// The same for plain types, with fewer questions.
CallMemory memory_of(const CallArguments& arguments, const CallShape& shape);

/// The same call on copies in pinned memory of those buffers that are on a device.
class HostTwin {
  public:
    /// Memory that a twin needs.
    static std::size_t room_bytes(const CallArguments& arguments);
    /// Copies and waits. `room`: pinned, of that size, the caller's until the twin is not used any
    /// more. Errors: those of devices.
    static Result<HostTwin> make(std::shared_ptr<DeviceSide> side, const CallArguments& arguments,
                                 const CallMemory& memory, std::byte* room);

    const CallArguments& arguments() const { return arguments_; }
    /// The result to where the call wants it; waits.
    Status give_back() const;

  private:
    std::shared_ptr<DeviceSide> side_;
    CallArguments arguments_;
    std::byte* result_dev_ = nullptr;  ///< null: the call's result is in host memory
    std::byte* result_ = nullptr;
    std::size_t size_bytes_ = 0;
};

/// A twin in room that the caller keeps, and that grows as needed. `context`: null if the
/// communicator has none.
Result<HostTwin> twin_of(CommContext* context, const CallArguments& arguments,
                         const CallMemory& memory, DeviceArea& room);

/// pass_allreduce() through copies in host memory, unless the MPI library says that it reaches
/// devices. `context`: null if the communicator has none.
Outcome pass_device_allreduce(CommContext* context, const CallArguments& arguments,
                              const CallMemory& memory);

/// On a tree of one rank the input is the result: copies and counts it. Errors: those of devices.
Status reduce_alone(CommContext& context, CallKind kind, const CallArguments& arguments,
                    const CallShape& shape, const CallMemory& memory);

/// A call whose buffers are in one memory.
struct PlacedCall {
    CallArguments arguments;
    std::shared_ptr<DeviceSide> device;  ///< of that memory; null: the host
};
/// An input that lies elsewhere than the result is copied there, and the call becomes one in place:
/// this rank's business alone. Errors: those of devices.
Result<PlacedCall> place_call(CommContext& context, const CallArguments& arguments,
                              const CallShape& shape, const CallMemory& memory);

/// What `run` does with host memory, with a copy of the device's: in place there. `refuse`: tells
/// the other ranks where there can be no copy.
Status run_on_copy(const CallArguments& arguments, const CallShape& shape, DeviceSide& side,
                   const std::function<Status(const CallArguments&)>& run,
                   const std::function<void(const Status&)>& refuse);

/// Whether a blocking call whose route rests on one host is one whose vectors are on devices of all
/// ranks, and long enough to stay there: then it goes over the tree, which there is from now on.
/// Collective with the calls of other ranks, wherever their vectors are. Errors: those of
/// OneHost::all_on_devices().
Result<bool> stays_on_devices(CommContext& context, const CallShape& shape, bool on_device);

/// Between memory of the device and the host's, either way; waits for it.
Status copy_and_finish(DeviceSide& side, void* to, const void* from, std::size_t size_bytes);
/// A device as the operations of a communicator use it; `context`: null if it has none.
Result<std::shared_ptr<DeviceSide>> side_of(CommContext* context, int number);

}  // namespace gradcoll
