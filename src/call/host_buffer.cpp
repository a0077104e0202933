#include "call/host_buffer.hpp"

#include "call/device_allreduce.hpp"
#include "mpi/signature.hpp"

namespace gradcoll {

int HostBuffer::memory_of(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
    const BufferExtent extent = extent_of(count, datatype);
    if (extent.size_bytes == 0) return host_memory;
    return Devices::of_process().device_of(extent.first_byte(buffer));
}

HostBuffer::HostBuffer(CommContext& context, const void* buffer, MPI_Count count,
                       MPI_Datatype datatype)
    : context_(&context),
      buffer_(const_cast<void*>(buffer)),  // NOLINT: only drain() writes
      count_(count),
      datatype_(datatype),
      memory_(memory_of(buffer, count, datatype)),
      is_copy_(memory_ != host_memory || !is_plain(datatype)) {
    if (!is_copy_) return;
    const auto bytes = data_bytes(datatype);
    copy_.resize(bytes ? *bytes * static_cast<std::size_t>(count) : 0);
}

/// Calls `move` (taking the address that the datatype counts from) on a copy of all that lies
/// between the buffer's first byte and its last, also in gaps, and copies that back.
template <class Move>
Status HostBuffer::on_device(Move&& move) {
    const BufferExtent extent = extent_of(count_, datatype_);
    const auto side = side_of(context_, memory_);
    if (!side) return side.status();
    std::vector<std::byte> twin(extent.size_bytes);
    std::byte* const first = extent.first_byte(buffer_);
    GRADCOLL_TRY(copy_and_finish(**side, twin.data(), first, twin.size()));
    GRADCOLL_TRY(move(twin.data() - extent.shift));
    return copy_and_finish(**side, first, twin.data(), twin.size());
}

Status HostBuffer::fill() {
    if (!is_copy_ || copy_.empty()) return {};
    const auto packed = [this](const void* from) {
        return pack(from, count_, datatype_, copy_.data(), context_->identity().private_comm());
    };
    return memory_ == host_memory ? packed(buffer_) : on_device(packed);
}

Status HostBuffer::drain() {
    if (!is_copy_ || copy_.empty()) return {};
    const auto unpacked = [this](void* to) {
        return unpack(copy_.data(), count_, datatype_, to, context_->identity().private_comm());
    };
    return memory_ == host_memory ? unpacked(buffer_) : on_device(unpacked);
}

}  // namespace gradcoll
