#include "call/device_allreduce.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#include "mpi/mpi_reach.hpp"

namespace gradcoll {
namespace {

int device_of(const void* buffer, const BufferExtent& extent) {
    if (extent.size_bytes == 0) return host_memory;
    return Devices::of_process().device_of(extent.first_byte(buffer));
}

CallMemory memory_in(const CallArguments& arguments, const BufferExtent& extent) {
    CallMemory memory;
    memory.receive = device_of(arguments.recvbuf, extent);
    memory.send = is_in_place(arguments) ? memory.receive : device_of(arguments.sendbuf, extent);
    return memory;
}

void copy_to_self(const CallArguments& arguments, const CallShape& shape) {
    if (is_in_place(arguments) || shape.count == 0) return;
    std::memcpy(arguments.recvbuf, arguments.sendbuf, shape.size_bytes());
}

Status copy_to_self_on_device(CommContext& context, const CallArguments& arguments,
                              const CallShape& shape, const CallMemory& memory) {
    if (is_in_place(arguments) || shape.count == 0) return {};
    const auto side = side_of(&context, memory.device());
    if (!side) return side.status();
    return copy_and_finish(**side, arguments.recvbuf, arguments.sendbuf, shape.size_bytes());
}

}  // namespace

Result<std::shared_ptr<DeviceSide>> side_of(CommContext* context, int number) {
    const DevicePlugin& plugin =
        number == unserved_device ? copies_by_mpi() : *Devices::of_process().plugin();
    return context != nullptr ? context->devices().side(plugin, number)
                              : DeviceSide::make(plugin, number, {{}, false});
}

BufferExtent extent_of(MPI_Count count, MPI_Datatype datatype) {
    MPI_Aint lower_bound = 0, extent = 0, true_lower_bound = 0, true_extent = 0;
    if (count == 0 || PMPI_Type_get_extent(datatype, &lower_bound, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(datatype, &true_lower_bound, &true_extent) != MPI_SUCCESS)
        return {};
    const MPI_Aint others = static_cast<MPI_Aint>(count - 1) * extent;
    return {true_lower_bound + (others < 0 ? others : 0),
            static_cast<std::size_t>((others < 0 ? -others : others) + true_extent)};
}

CallMemory memory_of(const CallArguments& arguments) {
    return memory_in(arguments, extent_of(arguments.count, arguments.datatype));
}

CallMemory memory_of(const CallArguments& arguments, const CallShape& shape) {
    return memory_in(arguments, {0, shape.size_bytes()});
}

bool mpi_reaches(const CallMemory& memory) {
    return !memory.any_device() || memory.any_unserved() ||
           mpi_takes_memory_of(*Devices::of_process().plugin());
}

Outcome pass_device_allreduce(CommContext* context, const CallArguments& arguments,
                              const CallMemory& memory) {
    if (mpi_reaches(memory)) return pass_allreduce(arguments);
    const auto side = side_of(context, memory.device());
    if (!side) return side.status();
    const auto room = (*side)->staging(HostTwin::room_bytes(arguments));
    if (!room) return room.status();
    auto twin = HostTwin::make(*side, arguments, memory, *room);
    if (!twin) return twin.status();
    Outcome outcome = pass_allreduce(twin->arguments());
    if (outcome.status.ok() && outcome.mpi_code == MPI_SUCCESS) GRADCOLL_TRY(twin->give_back());
    return outcome;
}

std::size_t HostTwin::room_bytes(const CallArguments& arguments) {
    return 2 * extent_of(arguments.count, arguments.datatype).size_bytes;
}

Result<HostTwin> HostTwin::make(std::shared_ptr<DeviceSide> side, const CallArguments& arguments,
                                const CallMemory& memory, std::byte* room) {
    const BufferExtent extent = extent_of(arguments.count, arguments.datatype);
    HostTwin twin;
    twin.arguments_ = arguments;
    twin.side_ = std::move(side);
    DeviceStream& work = twin.side_->work();
    const auto lock = twin.side_->lock();
    GRADCOLL_TRY(twin.side_->follow_user());
    if (memory.receive != host_memory) {
        // This copies what lies in the gaps of the datatype, too, as it comes back with the result.
        twin.result_dev_ = extent.first_byte(arguments.recvbuf);
        twin.result_ = room;
        twin.size_bytes_ = extent.size_bytes;
        twin.arguments_.recvbuf = room - extent.shift;
        GRADCOLL_TRY(work.copy(room, twin.result_dev_, extent.size_bytes));
    }
    if (memory.send != host_memory && !is_in_place(arguments)) {
        std::byte* const input = room + extent.size_bytes;
        twin.arguments_.sendbuf = input - extent.shift;
        GRADCOLL_TRY(work.copy(input, extent.first_byte(arguments.sendbuf), extent.size_bytes));
    }
    GRADCOLL_TRY(twin.side_->finish_work());
    return twin;
}

Result<HostTwin> twin_of(CommContext* context, const CallArguments& arguments,
                         const CallMemory& memory, DeviceArea& room) {
    const auto side = side_of(context, memory.device());
    if (!side) return side.status();
    if (room.size_bytes() < HostTwin::room_bytes(arguments))
        GRADCOLL_TRY(take(room, DeviceArea::make((*side)->device(), DeviceArea::Kind::pinned,
                                                 HostTwin::room_bytes(arguments))));
    return HostTwin::make(*side, arguments, memory, room.data());
}

Status HostTwin::give_back() const {
    if (result_dev_ == nullptr) return {};
    const auto lock = side_->lock();
    GRADCOLL_TRY(side_->work().copy(result_dev_, result_, size_bytes_));
    return side_->finish_work();
}

Status reduce_alone(CommContext& context, CallKind kind, const CallArguments& arguments,
                    const CallShape& shape, const CallMemory& memory) {
    if (memory.any_device())
        GRADCOLL_TRY(copy_to_self_on_device(context, arguments, shape, memory));
    else
        copy_to_self(arguments, shape);
    context.statistics().count_local(kind, shape.size_bytes());
    return {};
}

Result<PlacedCall> place_call(CommContext& context, const CallArguments& arguments,
                              const CallShape& shape, const CallMemory& memory) {
    PlacedCall placed{arguments, nullptr};
    if (!memory.any_device()) return placed;
    if (memory.send != memory.receive) {
        GRADCOLL_TRY(copy_to_self_on_device(context, arguments, shape, memory));
        placed.arguments.sendbuf = MPI_IN_PLACE;
    }
    if (memory.receive == host_memory) return placed;
    GRADCOLL_TRY(take(placed.device, side_of(&context, memory.receive)));
    return placed;
}

Status run_on_copy(const CallArguments& arguments, const CallShape& shape, DeviceSide& side,
                   const std::function<Status(const CallArguments&)>& run,
                   const std::function<void(const Status&)>& refuse) {
    const Binding binding = binding_of(arguments, shape);
    const auto copy = side.staging(shape.size_bytes());
    const Status copied =
        copy ? copy_and_finish(side, *copy, binding.input, shape.size_bytes()) : copy.status();
    if (!copied.ok()) {
        refuse(copied);
        return copied;
    }
    CallArguments there = arguments;
    there.sendbuf = MPI_IN_PLACE;
    there.recvbuf = *copy;
    GRADCOLL_TRY(run(there));
    return copy_and_finish(side, binding.output, *copy, shape.size_bytes());
}

Result<bool> stays_on_devices(CommContext& context, const CallShape& shape, bool on_device) {
    if (!GRADCOLL_VALUE(context.one_host().all_on_devices(shape, on_device))) return false;
    // If the tree cannot be made, all ranks have that error, and go through memory of the host
    // instead.
    return context.prepare_tree().ok() && context.devices().all_share() &&
           shape.size_bytes() >= context.least_device_bytes();
}

}  // namespace gradcoll
