#include "api/edge/call_memory.hpp"

namespace gradcoll {
namespace {

int device_of(const void* buffer, const BufferExtent& extent) {
    if (extent.size_bytes == 0) return host_memory;
    return Devices::of_process().device_of(extent.first_byte(buffer));
}

CallMemory memory_in(const ReduceArguments& arguments, const BufferExtent& extent) {
    CallMemory memory;
    memory.receive = device_of(arguments.recvbuf, extent);
    memory.send = is_in_place(arguments) ? memory.receive : device_of(arguments.sendbuf, extent);
    return memory;
}

}  // namespace

BufferExtent extent_of(MPI_Count count, MPI_Datatype datatype) {
    MPI_Aint lower_bound = 0, extent = 0, true_lower_bound = 0, true_extent = 0;
    if (count == 0 || PMPI_Type_get_extent(datatype, &lower_bound, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(datatype, &true_lower_bound, &true_extent) != MPI_SUCCESS)
        return {};
    const MPI_Aint others = static_cast<MPI_Aint>(count - 1) * extent;
    return {true_lower_bound + (others < 0 ? others : 0),
            static_cast<std::size_t>((others < 0 ? -others : others) + true_extent)};
}

CallMemory memory_of(const ReduceArguments& arguments) {
    return memory_in(arguments, extent_of(arguments.count, arguments.datatype));
}

CallMemory memory_of(const ReduceArguments& arguments, const CallShape& shape) {
    return memory_in(arguments, {0, shape.size_bytes()});
}

}  // namespace gradcoll
