// MPI_Barrier, MPI_Bcast and MPI_Reduce of unchanged programs.
#include "api/interposed/entries.hpp"
#include "api/interposed/offer.hpp"
#include "attach/attachments.hpp"
#include "call/host_call.hpp"

namespace gradcoll {
namespace {

constexpr Entry barrier{
    .kind = CallKind::barrier, .name = "MPI_Barrier (served by gradcoll)", .offered = true};
constexpr Entry bcast{
    .kind = CallKind::bcast, .name = "MPI_Bcast (served by gradcoll)", .offered = true};
constexpr Entry reduce{
    .kind = CallKind::reduce, .name = "MPI_Reduce (served by gradcoll)", .offered = true};

/// Counts a call that passes whatever it is.
void count_early(const HostCall& call) noexcept {
    const MPI_Comm comm = call.arguments.comm;
    if (comm == MPI_COMM_NULL) return;
    const auto attached = attached_context(comm);
    count_passed(attached ? attached->get() : nullptr, *call.entry, call.arguments,
                 reason_to_pass(*call.entry, comm));
}

int offer(const HostCall& call, int* code) noexcept {
    const Entry& entry = *call.entry;
    const MPI_Comm comm = call.arguments.comm;
    if (!mpi_is_running()) return 0;
    const Shortcut known = offer_cached(
        entry, comm, code, [&](Status& status) { return run_host_call(call, status); });
    if (known == Shortcut::no) count_early(call);
    return known == Shortcut::served ? 1 : 0;
}

}  // namespace

int offer_barrier(GC_Mpi_handle comm, int* code) noexcept {
    HostCall call{&barrier, {}, 0};
    meet_before(handle_of<MPI_Comm>(comm), 1);
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
