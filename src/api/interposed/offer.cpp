#include "api/interposed/offer.hpp"

#include "api/comm/attachments.hpp"
#include "api/interposed/gate.hpp"

namespace gradcoll {
namespace {

GC_Intercepted intercepted(CallKind kind) {
    switch (kind) {
        case CallKind::allreduce:
            return GC_CALL_ALLREDUCE;
        case CallKind::iallreduce:
            return GC_CALL_IALLREDUCE;
        case CallKind::allreduce_init:
            return GC_CALL_ALLREDUCE_INIT;
        case CallKind::reduce_scatter_block:
            return GC_CALL_REDUCE_SCATTER_BLOCK;
        case CallKind::reduce_scatter:
            return GC_CALL_REDUCE_SCATTER;
        case CallKind::allgather:
            return GC_CALL_ALLGATHER;
        case CallKind::persistent:
            return GC_CALL_START;
    }
    return GC_CALL_KINDS;
}

/// For the report; 0 if nobody counts, or if the call makes no sense.
std::uint64_t vector_bytes(const OfferedCall& call) {
    if (call.arguments.count < 0 || call.arguments.datatype == MPI_DATATYPE_NULL) return 0;
    const std::uint64_t bytes = observed_bytes(call.arguments.count, call.arguments.datatype);
    int ranks = 1;
    if (bytes != 0 && call.in_blocks) PMPI_Comm_size(call.arguments.comm, &ranks);
    return bytes * static_cast<std::uint64_t>(ranks);
}

}  // namespace

PassReason reason_to_pass(const OfferedCall& call) {
    if (call.arguments.comm == MPI_COMM_NULL) return PassReason::wrong_arguments;
    if (!interception_is_on()) return PassReason::interception_off;
    if (!intercepted_calls().has(intercepted(call.kind))) return PassReason::not_intercepted;
    return PassReason::none;
}

void count_passed(const OfferedCall& call, PassReason reason) {
    const MPI_Comm comm = call.arguments.comm;
    if (comm == MPI_COMM_NULL) return;
    const std::uint64_t bytes = reason != PassReason::wrong_arguments ? vector_bytes(call) : 0;
    const auto attached = attached_context(comm);
    if (attached && *attached != nullptr)
        (*attached)->statistics().count_passed(call.kind, bytes, reason);
    else
        count_unattached(comm, call.kind, bytes, reason);
}

}  // namespace gradcoll
