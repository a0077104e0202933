// call/host_buffer.hpp - a buffer of a call as one piece of host memory, however the caller
// describes it and wherever it lies. Only this rank knows, and only it pays.
#pragma once

#include <cstddef>
#include <vector>

#include "base/call_kind.hpp"
#include "mpi/request.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// HostBuffer is the caller's own memory if that is plain and the host's; else it is a copy without
/// gaps, which fill() and drain() bring up to date.
class HostBuffer {
  public:
    /// Makes an empty one.
    HostBuffer() = default;
    /// Refers to the caller's memory, which must outlive it.
    HostBuffer(CommContext& context, const void* buffer, MPI_Count count, MPI_Datatype datatype);

    std::byte* data() { return is_copy_ ? copy_.data() : static_cast<std::byte*>(buffer_); }
    /// Fills the copy, if there is one, from the caller's memory. Errors: those of pack() and of
    /// devices.
    Status fill();
    /// Writes the copy, if there is one, back to the caller's memory. Errors: those of unpack() and
    /// of devices.
    Status drain();

    /// Returns where a buffer lies: the number of a device, host_memory or unserved_device.
    static int memory_of(const void* buffer, MPI_Count count, MPI_Datatype datatype);

  private:
    template <class Move>
    Status on_device(Move&& move);

    CommContext* context_ = nullptr;
    void* buffer_ = nullptr;
    MPI_Count count_ = 0;
    MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
    int memory_ = host_memory;
    bool is_copy_ = false;
    std::vector<std::byte> copy_;
};

/// CallBuffers are those that this rank has of a call, or copies of them that are plain.
class CallBuffers {
  public:
    CallBuffers(CommContext& context, CallKind kind, const CallArguments& arguments);

    /// Fills what this rank gives. Errors: those of HostBuffer::fill().
    Status fill();
    /// Writes back what it gets. Errors: those of HostBuffer::drain().
    Status drain() { return gets_ ? output_.drain() : Status(); }
    /// Returns the arguments of the call on these buffers.
    CallArguments arguments();

  private:
    CallArguments arguments_;
    bool gives_;
    bool gets_;
    bool is_one_ = false;  ///< input and output are one
    HostBuffer input_;
    HostBuffer output_;
};

}  // namespace gradcoll
