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

/// BufferExtent is the memory that a buffer covers, whatever its datatype.
struct BufferExtent {
    MPI_Aint shift = 0;  ///< bytes from the buffer's address to its first byte of data
    std::size_t size_bytes = 0;

    std::byte* first_byte(const void* buffer) const {
        return const_cast<std::byte*>(static_cast<const std::byte*>(buffer)) + shift;
    }
};
BufferExtent extent_of(MPI_Count count, MPI_Datatype datatype);

/// Returns which memory the buffers of valid arguments lie in. A buffer of a derived type lies
/// where its first byte does.
CallMemory memory_of(const CallArguments& arguments);
/// Returns the same for plain types, with fewer questions to MPI.
CallMemory memory_of(const CallArguments& arguments, const CallShape& shape);

/// HostTwin is the same call with copies, in pinned host memory, of those buffers that are on a
/// device.
class HostTwin {
  public:
    /// Returns the size of the memory that a twin needs.
    static std::size_t room_bytes(const CallArguments& arguments);
    /// Copies the buffers and waits for that. `room` is pinned memory of room_bytes(), which the
    /// caller keeps until the twin is not used any more. Errors: those of devices.
    static Result<HostTwin> make(std::shared_ptr<DeviceSide> side, const CallArguments& arguments,
                                 const CallMemory& memory, std::byte* room);

    const CallArguments& arguments() const { return arguments_; }
    /// Copies the result to where the call wants it, and waits for that.
    Status give_back() const;

  private:
    std::shared_ptr<DeviceSide> side_;
    CallArguments arguments_;
    std::byte* result_dev_ = nullptr;  ///< null: the call's result is in host memory
    std::byte* result_ = nullptr;
    std::size_t size_bytes_ = 0;
};

/// Returns a twin in memory that the caller keeps and that grows as needed. `context` is null if
/// the communicator has none.
Result<HostTwin> twin_of(CommContext* context, const CallArguments& arguments,
                         const CallMemory& memory, DeviceArea& room);

/// Returns whether the MPI library takes the buffers of a call as they are.
bool mpi_reaches(const CallMemory& memory);

/// Passes the call as pass_allreduce() does, but through copies in host memory unless the MPI
/// library says that it reaches devices. `context` is null if the communicator has none.
Outcome pass_device_allreduce(CommContext* context, const CallArguments& arguments,
                              const CallMemory& memory);

/// Copies the input to the result, which is the same on a tree of one rank, and counts the call.
/// Errors: those of devices.
Status reduce_alone(CommContext& context, CallKind kind, const CallArguments& arguments,
                    const CallShape& shape, const CallMemory& memory);

/// PlacedCall is a call whose buffers are in one memory.
struct PlacedCall {
    CallArguments arguments;
    std::shared_ptr<DeviceSide> device;  ///< the device of that memory; null: the host
};
/// Copies an input that lies in another memory than the result to there, so that the call becomes
/// one in place. The other ranks do not notice. Errors: those of devices.
Result<PlacedCall> place_call(CommContext& context, const CallArguments& arguments,
                              const CallShape& shape, const CallMemory& memory);

/// Does with a host copy of the device's vector what `run` does with host memory, in place. If
/// there can be no copy, calls `refuse`, which tells the other ranks.
Status run_on_copy(const CallArguments& arguments, const CallShape& shape, DeviceSide& side,
                   const std::function<Status(const CallArguments&)>& run,
                   const std::function<void(const Status&)>& refuse);

/// Returns whether a blocking call that could go through the memory of one host stays on devices:
/// all ranks have their vectors on devices, and these are long enough. The call then goes over the
/// tree, which exists from now on. Collective with the calls of other ranks, wherever their vectors
/// are. Errors: those of OneHost::all_on_devices().
Result<bool> stays_on_devices(CommContext& context, const CallShape& shape, bool on_device);

/// Returns a device as the operations of a communicator use it; `context` is null if it has none.
Result<std::shared_ptr<DeviceSide>> side_of(CommContext* context, int number);

}  // namespace gradcoll
