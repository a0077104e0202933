#include "mpi/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <limits>

#include "device/devices.hpp"
#include "mpi/mpi_reach.hpp"
#include "mpi/signature.hpp"

namespace gradcoll {
namespace {

/// Returns the bytes of one element if it is one contiguous piece at displacement 0, else 0.
std::size_t plain_element_bytes(MPI_Datatype datatype) {
    if (const auto known = known_type(datatype)) return known->size_bytes();
    if (!is_named(datatype)) return 0;
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    PMPI_Type_get_extent(datatype, &lower_bound, &extent);
    return lower_bound == 0 && extent > 0 ? static_cast<std::size_t>(extent) : 0;
}

/// Calls `reduce(sendbuf, recvbuf, count)` for pieces whose counts fit in an int. An op works
/// element by element, so that pieces give what the whole would.
template <class Reduce>
int in_pieces(const CallArguments& arguments, Reduce&& reduce) {
    MPI_Aint lower_bound = 0;
    MPI_Aint extent = 0;
    if (const int code = PMPI_Type_get_extent(arguments.datatype, &lower_bound, &extent);
        code != MPI_SUCCESS)
        return code;
    const bool in_place = arguments.sendbuf == MPI_IN_PLACE;
    MPI_Count done = 0;
    do {
        const int count = static_cast<int>(std::min<MPI_Count>(arguments.count - done, INT_MAX));
        const MPI_Aint offset = static_cast<MPI_Aint>(done) * extent;
        const void* sendbuf =
            in_place ? MPI_IN_PLACE : static_cast<const char*>(arguments.sendbuf) + offset;
        const int code = reduce(sendbuf, static_cast<char*>(arguments.recvbuf) + offset, count);
        if (code != MPI_SUCCESS) return code;
        done += count;
    } while (done < arguments.count);
    return MPI_SUCCESS;
}

}  // namespace

Status check_comm(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return {Code::invalid_comm, "comm is MPI_COMM_NULL"};
    return {};
}

Status check_intracomm(MPI_Comm comm) {
    GRADCOLL_TRY(check_comm(comm));
    int is_inter = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_test_inter(comm, &is_inter), "MPI_Comm_test_inter"));
    return is_inter == 0 ? Status()
                         : Status(Code::invalid_comm,
                                  "comm is an intercommunicator; allowed is an intracommunicator");
}

Status check_op(MPI_Op op) {
    if (op == MPI_OP_NULL) return {Code::invalid_op, "op is MPI_OP_NULL"};
    return {};
}

Status check_datatype(const char* name, MPI_Datatype datatype) {
    if (datatype == MPI_DATATYPE_NULL)
        return {Code::invalid_type, fmt::format("{} is MPI_DATATYPE_NULL", name)};
    return {};
}

Status check_count(const char* name, MPI_Count count) {
    if (count < 0)
        return {Code::invalid_count, fmt::format("{} is {}; allowed is 0 and more", name, count)};
    if (count > most_count)
        return {Code::invalid_count,
                fmt::format("{} is {}; allowed is up to {}", name, count, most_count)};
    return {};
}

namespace {

constexpr MPI_Count most_bytes = std::numeric_limits<MPI_Count>::max();

struct LastServed {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    Classified classified;
};

CallShape shape_for_kernel(const KnownType& known, ReduceOp op, const Reducer& reducer) {
    CallShape shape;
    shape.type = known.type;
    shape.elem_bytes = element_bytes(known.type);
    shape.op = op;
    shape.reducer = reducer;
    shape.components = known.components;
    shape.kind =
        (static_cast<std::uint64_t>(known.type) + 1) << 8U | static_cast<std::uint64_t>(op);
    return shape;
}

CallShape shape_for_mpi(const MpiElements& elements, MPI_Op op, MPI_Datatype datatype) {
    CallShape shape;
    shape.type = ElementType::opaque;
    shape.elem_bytes = elements.size_bytes;
    shape.reducer = mpi_reducer(elements.size_bytes);
    shape.is_lasting = elements.are_lasting;
    shape.is_packed = elements.are_packed;
    shape.kind = static_cast<std::uint64_t>(elements.size_bytes) << 32U | std::uint64_t{1} << 31U |
                 elements.kind;
    shape.mpi = {op, datatype, elements.size_bytes};
    return shape;
}

PassReason why_no_kernel(const std::optional<KnownType>& known, const std::optional<ReduceOp>& op) {
    if (!known) return PassReason::unknown_datatype;
    return op ? PassReason::op_not_defined : PassReason::unknown_op;
}

Classified classify_for_mpi(MPI_Datatype datatype, MPI_Op op, PassReason no_kernel) {
    const MpiElements elements = elements_for_mpi(op, datatype);
    if (elements.pass_reason != PassReason::none) return {{}, elements.pass_reason};
    if (elements.size_bytes == 0) return {{}, no_kernel};
    CallShape shape = shape_for_mpi(elements, op, datatype);
    // The op is defined, though not by a kernel.
    shape.mpi_reason = no_kernel == PassReason::op_not_defined ? PassReason::unknown_op : no_kernel;
    return {shape, shape.mpi_reason};
}

Classified classify_anew(MPI_Datatype datatype, MPI_Op op) {
    const auto known = known_type(datatype);
    const auto reduce_op = known_op(op);
    if (known && reduce_op && op_fits(*reduce_op, known->kind))
        if (const Reducer reducer = reducer_for(*reduce_op, known->type))
            return {shape_for_kernel(*known, *reduce_op, reducer), PassReason::none};
    return classify_for_mpi(datatype, op, why_no_kernel(known, reduce_op));
}

Status not_reached(const BufferArgument& buffer, int device) {
    if (device == unserved_device)
        return {Code::invalid_buffer,
                fmt::format("{} = {} is memory of a device, which is not reached: {}; copy it to "
                            "the host first, or use managed memory",
                            buffer.name, buffer.data, Devices::of_process().why_inactive())};
    return {Code::invalid_buffer,
            fmt::format("{} = {} is memory of a device, which this call does not reach "
                        "(GC_Allreduce does); copy it to the host first, or use managed memory",
                        buffer.name, buffer.data)};
}

}  // namespace

Status locate(const BufferArgument& buffer, Reach reach, int& memory) {
    memory = host_memory;
    if (buffer.size_bytes == 0) return {};
    if (buffer.data == nullptr)
        return {Code::invalid_buffer, fmt::format("{} is null, but the call holds {} bytes",
                                                  buffer.name, buffer.size_bytes)};
    memory = Devices::of_process().device_of(buffer.data);
    if (memory == host_memory) return {};
    const bool reached =
        reach == Reach::host_and_devices && (memory >= 0 || mpi_takes_unserved_memory());
    return reached ? Status() : not_reached(buffer, memory);
}

Status check_disjoint(const BufferPair& buffers) {
    const auto& [a, b] = buffers;
    const auto begin_a = reinterpret_cast<std::uintptr_t>(a.data);
    const auto begin_b = reinterpret_cast<std::uintptr_t>(b.data);
    if (begin_a + a.size_bytes <= begin_b || begin_b + b.size_bytes <= begin_a ||
        a.size_bytes == 0 || b.size_bytes == 0)
        return {};
    return {
        Code::invalid_buffer,
        fmt::format(
            "{} = {} ({} bytes) and {} = {} ({} bytes) overlap; allowed are separate buffers, or "
            "MPI_IN_PLACE",
            a.name, a.data, a.size_bytes, b.name, b.data, b.size_bytes)};
}

bool is_plain_host_memory(const void* buffer) {
    return buffer != nullptr && buffer != MPI_IN_PLACE &&
           Devices::of_process().device_of(buffer) == host_memory;
}

bool are_plain_and_apart(const CallArguments& arguments, std::uint64_t size_bytes) {
    if (!is_plain_host_memory(arguments.recvbuf)) return false;
    if (is_in_place(arguments)) return true;
    const auto from = reinterpret_cast<std::uintptr_t>(arguments.sendbuf);
    const auto to = reinterpret_cast<std::uintptr_t>(arguments.recvbuf);
    const std::uintptr_t apart = from < to ? to - from : from - to;
    return apart >= size_bytes && is_plain_host_memory(arguments.sendbuf);
}

Binding binding_of(const CallArguments& arguments, const CallShape& shape) {
    Binding binding;
    binding.input = is_in_place(arguments) ? arguments.recvbuf : arguments.sendbuf;
    binding.output = arguments.recvbuf;
    binding.reducer = shape.reducer;
    if (shape.by_mpi()) binding.reducer.context = &shape.mpi;
    binding.op = shape.op;
    binding.signature = shape.kind;
    return binding;
}

std::size_t plain_bytes(MPI_Count count, MPI_Datatype datatype) {
    return static_cast<std::size_t>(count) * plain_element_bytes(datatype);
}

Classified classify(MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
    thread_local LastServed last;
    const bool again = datatype == last.datatype && op == last.op;
    Classified classified = again ? last.classified : classify_anew(datatype, op);
    const bool has_shape = !classified.passes() || classified.shape.by_mpi();
    if (!again && has_shape && classified.shape.is_lasting) last = {datatype, op, classified};
    if (has_shape && count > most_bytes / static_cast<MPI_Count>(classified.shape.item_bytes()))
        return {{}, PassReason::large_elements};
    classified.shape.set_count(count);
    return classified;
}

Result<MPI_Op> op_for_mpi(MPI_Op op, MPI_Datatype datatype) {
    const auto reduce_op = known_op(op);
    if (!reduce_op || !has_no_ops_in_mpi(datatype)) return op;
    return op_for_16_bit_floats(*reduce_op);
}

Outcome pass_allreduce(const CallArguments& arguments) {
    const auto op = op_for_mpi(arguments.op, arguments.datatype);
    if (!op) return op.status();
    return Outcome::passed(in_pieces(arguments, [&](const void* sendbuf, void* recvbuf, int count) {
        return PMPI_Allreduce(sendbuf, recvbuf, count, arguments.datatype, *op, arguments.comm);
    }));
}

Outcome pass_reduce_scatter(const CallArguments& a) {
    const auto op = op_for_mpi(a.op, a.datatype);
    if (!op) return op.status();
    return Outcome::passed(PMPI_Reduce_scatter_block(
        a.sendbuf, a.recvbuf, static_cast<int>(a.count), a.datatype, *op, a.comm));
}

Outcome pass_iallreduce(const CallArguments& arguments, MPI_Request* request) {
    if (arguments.count > INT_MAX)
        return Status(
            Code::invalid_count,
            fmt::format(
                "count is {}, and this call passes to MPI_Iallreduce, which counts up to {}; "
                "GC_Comm_attach and MPI_THREAD_MULTIPLE let it use the tree",
                arguments.count, INT_MAX));
    const auto op = op_for_mpi(arguments.op, arguments.datatype);
    if (!op) return op.status();
    return Outcome::passed(PMPI_Iallreduce(arguments.sendbuf, arguments.recvbuf,
                                           static_cast<int>(arguments.count), arguments.datatype,
                                           *op, arguments.comm, request));
}

}  // namespace gradcoll
