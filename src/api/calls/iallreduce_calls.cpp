// GC_Iallreduce, GC_Iallreduce_c.
#include <fmt/format.h>

#include "api/calls/device_allreduce.hpp"
#include "api/calls/nonblocking_call.hpp"
#include "api/calls/progress_thread.hpp"
#include "api/calls/reduction.hpp"
#include "api/comm/attachments.hpp"
#include "api/comm/route.hpp"
#include "api/edge/mpi_reach.hpp"
#include "gradcoll/collectives.h"

namespace gradcoll {
namespace {

/// Attaching would wait for other ranks, which a nonblocking call must not.
PassReason reason_to_pass(const CommContext* context) {
    if (context == nullptr) return PassReason::not_attached;
    if (!context->identity().all_ranks_have_threads())
        return PassReason::nonblocking_without_threads;
    return context->identity().rank_count() == 1 ? PassReason::single_rank : PassReason::none;
}

/// The MPI library completes the request: nobody could copy the result back then.
Status check_mpi_reaches(const ReduceArguments& arguments, PassReason reason) {
    if (!memory_of(arguments).any_device() || mpi_takes_memory_of(*Devices::of_process().plugin()))
        return {};
    return {
        Code::invalid_buffer,
        fmt::format("a buffer is memory of a device, and this call passes to the MPI library, "
                    "which does not reach it ({}); GC_Allreduce and persistent requests copy it",
                    text_of(reason))};
}

Outcome pass(CommContext* context, const ReduceArguments& arguments, PassReason reason,
             MPI_Request* request) {
    GRADCOLL_TRY(check_mpi_reaches(arguments, reason));
    count_passed(context, CallKind::iallreduce, arguments, reason);
    return pass_iallreduce(arguments, request);
}

Outcome iallreduce(const ReduceArguments& arguments, MPI_Request* request) {
    GRADCOLL_TRY(check_allreduce(arguments, Reach::host_and_devices));
    if (request == nullptr) return Outcome::bad_request("request is a null pointer");
    const auto found = attached_context(arguments.comm);
    if (!found) return found.status();
    CommContext* const context = found->get();
    if (const PassReason reason = reason_to_pass(context); reason != PassReason::none)
        return pass(context, arguments, reason, request);

    const CallTimer timer(context->statistics());
    const Classified call = classify(arguments.count, arguments.datatype, arguments.op);
    if (call.passes()) return pass(context, arguments, call.pass_reason, request);
    const Route route = route_in(*context, call.shape, {.in_place = is_in_place(arguments)});
    if (route.passes()) return pass(context, arguments, route.pass_reason, request);
    auto placed = place_call(*context, arguments, call.shape);
    if (!placed) return placed.status();
    CallKey key = route.key;
    key.in_place = is_in_place(placed->arguments);
    auto started = NonblockingCall::start({*found, key, binding_of(placed->arguments, call.shape),
                                           "GC_Iallreduce", nullptr, placed->device},
                                          request);
    if (!started) return started.status();
    return give_to_progress_thread(std::move(started).value());
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm, MPI_Request* request) {
    return at_boundary(comm, "GC_Iallreduce", [&] {
        return iallreduce({sendbuf, recvbuf, count, datatype, op, comm}, request);
    });
}

extern "C" int GC_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                               MPI_Request* request) {
    return at_boundary(comm, "GC_Iallreduce_c", [&] {
        return iallreduce({sendbuf, recvbuf, count, datatype, op, comm}, request);
    });
}
