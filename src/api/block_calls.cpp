// GC_Reduce_scatter_block, GC_Reduce_scatter_block_residual and GC_Allgather: the two halves of an
// allreduce, in MPI's own block layout.
#include "call/blocking.hpp"
#include "gradcoll/collectives.h"

namespace gradcoll {
namespace {

Outcome pass_allgather(const CallArguments& a) {
    return Outcome::passed(PMPI_Allgather(a.sendbuf, static_cast<int>(a.sendcount), a.sendtype,
                                          a.recvbuf, static_cast<int>(a.count), a.datatype,
                                          a.comm));
}

template <class Pass>
Outcome in_blocks(const Entry& entry, const CallArguments& arguments, Pass&& pass) {
    const Call call = admit(entry, arguments);
    if (!call.refusal.ok()) refuse_call(call, call.refusal);
    if (!call.error.ok()) return call.error;
    if (!call.passes()) return run_call(call);
    count_passed(call);
    return pass(call.arguments);
}

constexpr Entry reduce_scatter_entry{.kind = CallKind::reduce_scatter_block,
                                     .name = "GC_Reduce_scatter_block"};
Entry scatter_residual_entry(GC_Residual residual) {
    return {.kind = CallKind::reduce_scatter_block,
            .name = "GC_Reduce_scatter_block_residual",
            .with_residual = true,
            .residual = residual};
}
constexpr Entry allgather_entry{.kind = CallKind::allgather, .name = "GC_Allgather"};

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return at_boundary(comm, reduce_scatter_entry.name, [&] {
        return in_blocks(reduce_scatter_entry, {sendbuf, recvbuf, recvcount, datatype, op, comm},
                         pass_reduce_scatter);
    });
}

extern "C" int GC_Reduce_scatter_block_residual(const void* sendbuf, void* recvbuf,
                                                MPI_Count recvcount, MPI_Datatype datatype,
                                                MPI_Op op, MPI_Comm comm, GC_Residual residual) {
    return at_boundary(comm, "GC_Reduce_scatter_block_residual", [&] {
        return in_blocks(scatter_residual_entry(residual),
                         {sendbuf, recvbuf, recvcount, datatype, op, comm}, pass_reduce_scatter);
    });
}

extern "C" int GC_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
    return at_boundary(comm, allgather_entry.name, [&] {
        return in_blocks(
            allgather_entry,
            {sendbuf, recvbuf, recvcount, recvtype, MPI_OP_NULL, comm, sendcount, sendtype},
            pass_allgather);
    });
}
