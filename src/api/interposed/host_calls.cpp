// MPI_Barrier, MPI_Bcast and MPI_Reduce of unchanged programs.
#include "api/calls/host_call.hpp"
#include "api/comm/attachments.hpp"
#include "api/interposed/entries.hpp"
#include "api/interposed/offer.hpp"

namespace gradcoll {
namespace {

constexpr Entry barrier{
    .kind = CallKind::barrier, .name = "MPI_Barrier (served by gradcoll)", .offered = true};
constexpr Entry bcast{
    .kind = CallKind::bcast, .name = "MPI_Bcast (served by gradcoll)", .offered = true};
constexpr Entry reduce{
    .kind = CallKind::reduce, .name = "MPI_Reduce (served by gradcoll)", .offered = true};

Known pass_early(const HostCall& call, PassReason reason) {
    const MPI_Comm comm = call.arguments.comm;
    if (comm == MPI_COMM_NULL) return Known::passes;
    const auto attached = attached_context(comm);
    count_passed(attached ? attached->get() : nullptr, *call.entry, call.arguments, reason);
    return Known::passes;
}

int offer(const HostCall& call, int* code) noexcept try {
    if (!mpi_is_running()) return 0;
    Status status;
    const PassReason early = reason_to_pass(*call.entry, call.arguments.comm);
    const Known known =
        early == PassReason::none ? run_host_call(call, status) : pass_early(call, early);
    if (known == Known::passes) return 0;
    *code = status.ok() ? MPI_SUCCESS : raise_error(call.arguments.comm, call.entry->name, status);
    return 1;
} catch (...) {  // the other ranks are inside
    *code = raise_error(call.arguments.comm, call.entry->name, status_of_current_exception());
    return 1;
}

}  // namespace

int offer_barrier(GC_Handle comm, int* code) noexcept {
    HostCall call{&barrier, {}, 0};
    call.arguments.comm = handle_of<MPI_Comm>(comm);
    return offer(call, code);
}

int offer_bcast(const GC_Bcast_call* call, int* code) noexcept {
    return offer({&bcast,
                  {MPI_IN_PLACE, call->buffer, call->count, handle_of<MPI_Datatype>(call->datatype),
                   MPI_OP_NULL, handle_of<MPI_Comm>(call->comm)},
                  call->root},
                 code);
}

int offer_reduce(const GC_Reduce_call* call, int root, int* code) noexcept {
    return offer({&reduce, arguments_of(*call), root}, code);
}

}  // namespace gradcoll
