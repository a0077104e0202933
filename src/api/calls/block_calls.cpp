// GC_Reduce_scatter_block and GC_Allgather: the two halves of an allreduce, in MPI's own block
// layout.
#include "api/calls/blocking.hpp"
#include "api/calls/blocks.hpp"
#include "api/calls/reduction.hpp"
#include "api/comm/attachments.hpp"
#include "gradcoll/collectives.h"

namespace gradcoll {
namespace {

int group_size(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

Outcome pass_reduce_scatter(CommContext* context, const ReduceArguments& arguments,
                            PassReason reason) {
    ReduceArguments whole = arguments;
    whole.count *= group_size(arguments.comm);
    count_passed(context, CallKind::reduce_scatter_block, whole, reason);
    const auto op = op_for_mpi(arguments.op, arguments.datatype);
    if (!op) return op.status();
    return Outcome::passed(PMPI_Reduce_scatter_block(arguments.sendbuf, arguments.recvbuf,
                                                     static_cast<int>(arguments.count),
                                                     arguments.datatype, *op, arguments.comm));
}

Status check_reduce_scatter(const ReduceArguments& arguments, int rank_count) {
    GRADCOLL_TRY(check_reduce_scatter_but_overlap(arguments, rank_count));
    const BufferPair buffers = buffers_of_reduce_scatter(arguments, rank_count);
    return check_disjoint(buffers.send, buffers.receive);
}

Outcome pass_allgather(CommContext* context, const GatherArguments& a, PassReason reason) {
    ReduceArguments whole;
    whole.count = a.recvcount * group_size(a.comm);
    whole.datatype = a.recvtype;
    whole.comm = a.comm;
    count_passed(context, CallKind::allgather, whole, reason);
    return Outcome::passed(PMPI_Allgather(a.sendbuf, static_cast<int>(a.sendcount), a.sendtype,
                                          a.recvbuf, static_cast<int>(a.recvcount), a.recvtype,
                                          a.comm));
}

Status check_gather_buffers(const GatherArguments& a, std::size_t block_bytes, int rank_count) {
    const BufferPair buffers = buffers_of_gather(a, block_bytes, rank_count);
    GRADCOLL_TRY(check_buffer(buffers.receive));
    GRADCOLL_TRY(check_buffer(buffers.send));
    return check_disjoint(buffers.send, buffers.receive);
}

Outcome reduce_scatter(const ReduceArguments& arguments) {
    GRADCOLL_TRY(check_comm(arguments.comm));
    const auto found = context_of(arguments.comm);
    if (!found) return found.status();
    if (!*found) return pass_reduce_scatter(nullptr, arguments, PassReason::intercommunicator);
    CommContext& context = **found;
    const CallTimer timer(context.statistics());
    GRADCOLL_TRY(check_reduce_scatter(arguments, context.identity().rank_count()));
    GRADCOLL_TRY(check_alike(context, "GC_Reduce_scatter_block", arguments));

    Classified call = classify(arguments.count * context.identity().rank_count(),
                               arguments.datatype, arguments.op);
    if (!call.passes() && context.identity().rank_count() == 1) {
        copy_to_self(arguments, call.shape);
        context.statistics().count_local(CallKind::reduce_scatter_block, call.shape.size_bytes());
        return Status();
    }
    Route route;
    route.pass_reason = call.pass_reason;
    if (!call.passes()) route = route_reduce_scatter(context, call.shape, is_in_place(arguments));
    if (!route.passes())
        return run_blocking(context, CallKind::reduce_scatter_block, route.key,
                            binding_of(arguments, call.shape));
    return pass_reduce_scatter(&context, arguments, route.pass_reason);
}

Outcome allgather(const GatherArguments& a) {
    GRADCOLL_TRY(check_gather_types(a));
    const auto found = context_of(a.comm);
    if (!found) return found.status();
    if (!*found) return pass_allgather(nullptr, a, PassReason::intercommunicator);
    CommContext& context = **found;
    const CallTimer timer(context.statistics());
    const auto block_bytes = block_bytes_of(a);
    if (!block_bytes) return block_bytes.status();
    GRADCOLL_TRY(check_gather_buffers(a, *block_bytes, context.identity().rank_count()));
    GRADCOLL_TRY(check_gather_alike(context, "GC_Allgather", *block_bytes));
    Route route = route_allgather(context, a, *block_bytes, /*always_exact=*/false);
    if (context.identity().rank_count() == 1) route.pass_reason = PassReason::single_rank;
    if (!route.passes()) return gather_on_tree(context, a, route.key, *block_bytes);
    return pass_allgather(&context, a, route.pass_reason);
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return at_boundary(comm, "GC_Reduce_scatter_block", [&] {
        return reduce_scatter({sendbuf, recvbuf, recvcount, datatype, op, comm});
    });
}

extern "C" int GC_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return at_boundary(comm, "GC_Allgather", [&] {
        return allgather({sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm});
    });
}
