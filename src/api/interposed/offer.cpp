#include "api/interposed/offer.hpp"

#include <cstring>
#include <iterator>

#include "api/comm/attachments.hpp"
#include "api/interposed/gate.hpp"

namespace gradcoll {
namespace {

// In the order of CallKind.
constexpr GC_Intercepted intercepted[] = {
    GC_CALL_ALLREDUCE,      GC_CALL_IALLREDUCE,           GC_CALL_START,
    GC_CALL_ALLREDUCE_INIT, GC_CALL_REDUCE_SCATTER_BLOCK, GC_CALL_REDUCE_SCATTER,
    GC_CALL_ALLGATHER};
static_assert(std::size(intercepted) == call_kind_count);

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
    if (!intercepted_calls().has(intercepted[static_cast<std::size_t>(call.kind)]))
        return PassReason::not_intercepted;
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

SettledInput settle_input(const BufferArgument& send, const BufferArgument& receive,
                          const void* in_place_address, bool mpi_takes_it) {
    SettledInput input;
    input.sendbuf = send.data;
    if (send.data == MPI_IN_PLACE || check_disjoint(send, receive).ok()) return input;
    if (send.data == in_place_address) {
        input.sendbuf = MPI_IN_PLACE;
        if (!mpi_takes_it) input.pass_reason = PassReason::aliased_buffer;
        return input;
    }
    input.copy.reset(new std::byte[send.size_bytes]);
    std::memcpy(input.copy.get(), send.data, send.size_bytes);
    input.sendbuf = input.copy.get();
    return input;
}

}  // namespace gradcoll
