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

CallBuffers::CallBuffers(CommContext& context, CallKind kind, const CallArguments& a)
    : arguments_(a) {
    const bool is_root = a.root == context.identity().rank();
    const bool has_any = !has(kind, CallTrait::no_buffers);
    gives_ = has_any && (is_root || !has(kind, CallTrait::from_root));
    gets_ =
        has_any &&
        (has(kind, CallTrait::from_root) ? !is_root : is_root || !has(kind, CallTrait::to_root));
    const MPI_Count whole = a.count * context.identity().rank_count();
    const bool scatters = has(kind, CallTrait::in_blocks) && has(kind, CallTrait::reduces);
    is_one_ = is_in_place(a) && !scatters;
    if (gets_ || is_one_)
        output_ = HostBuffer(context, a.recvbuf, gathers(kind) ? whole : a.count, a.datatype);
    if (!gives_ || is_one_) return;
    const void* const from = is_in_place(a) ? a.recvbuf : a.sendbuf;
    input_ = gathers(kind) ? HostBuffer(context, from, a.sendcount, a.sendtype)
                           : HostBuffer(context, from, scatters ? whole : a.count, a.datatype);
}

Status CallBuffers::fill() {
    if (!gives_) return {};
    return is_one_ ? output_.fill() : input_.fill();
}

CallArguments CallBuffers::arguments() {
    CallArguments plain = arguments_;
    if (gives_ && !is_one_) plain.sendbuf = input_.data();
    if (gets_ || is_one_) plain.recvbuf = output_.data();
    return plain;
}

}  // namespace gradcoll
