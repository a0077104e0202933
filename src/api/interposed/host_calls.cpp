// MPI_Barrier, MPI_Bcast and MPI_Reduce of unchanged programs.
#include <vector>

#include "api/interposed/entries.hpp"
#include "api/interposed/offer.hpp"
#include "attach/attachments.hpp"
#include "call/blocking.hpp"
#include "call/device_allreduce.hpp"
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

/// This is MPI_Reduce as an allreduce whose result only the root keeps (gc_reproducible=anywhere).
constexpr Entry reduce_anywhere{.kind = CallKind::reduce,
                                .name = "MPI_Reduce (served by gradcoll)",
                                .reach = Reach::host_and_devices,
                                .offered = true};

/// Returns whether the call goes that way. What is wrong with it is found on the usual one, and so
/// is what adds integers.
bool is_reduced_anywhere(const CallArguments& a, int root) {
    if (!process_settings().anywhere) return false;
    if (root < 0 || root >= rank_count_of(a.comm) || a.datatype == MPI_DATATYPE_NULL ||
        a.count <= 0)
        return false;
    const Classified classified = classify(a.count, a.datatype, a.op);
    return classified.passes() || is_floating(classified.shape.type);
}

int offer_reduce_anywhere(CallArguments arguments, int root, int* code) noexcept try {
    int rank = 0;
    if (!mpi_is_running() || PMPI_Comm_rank(arguments.comm, &rank) != MPI_SUCCESS) return 0;
    const BufferExtent extent = extent_of(arguments.count, arguments.datatype);
    std::vector<std::byte> room(rank == root ? 0 : extent.size_bytes);
    if (rank != root) arguments.recvbuf = room.data() - extent.shift;
    return at_offer(reduce_anywhere, arguments, {}, code, run_allreduce);
} catch (...) {
    *code = raise_error(arguments.comm, reduce_anywhere.name, status_of_current_exception());
    return 1;
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
    const CallArguments arguments = arguments_of(*call);
    if (is_reduced_anywhere(arguments, root)) return offer_reduce_anywhere(arguments, root, code);
    return offer({&reduce, arguments, root}, code);
}

}  // namespace gradcoll
