// GC_Allreduce, GC_Allreduce_c, GC_Allreduce_residual.
#include <fmt/format.h>

#include "api/calls/blocking.hpp"
#include "api/calls/device_allreduce.hpp"
#include "api/calls/handles.hpp"
#include "api/calls/reduction.hpp"
#include "api/comm/attachments.hpp"
#include "api/comm/route.hpp"
#include "gradcoll/collectives.h"

namespace gradcoll {
namespace {

Outcome pass(CommContext* context, const ReduceArguments& arguments, PassReason reason) {
    count_passed(context, CallKind::allreduce, arguments, reason);
    const CallMemory memory = memory_of(arguments);
    return memory.any_device() ? pass_device_allreduce(context, arguments, memory)
                               : pass_allreduce(arguments);
}

Outcome allreduce(const ReduceArguments& arguments) {
    GRADCOLL_TRY(check_allreduce(arguments, Reach::host_and_devices));
    const auto found = context_of(arguments.comm);
    if (!found) return found.status();
    if (!*found) return pass(nullptr, arguments, PassReason::intercommunicator);
    CommContext& context = **found;
    const CallTimer timer(context.statistics());
    GRADCOLL_TRY(check_alike(context, "GC_Allreduce", arguments));

    const Classified call = classify(arguments.count, arguments.datatype, arguments.op);
    if (call.passes()) return pass(&context, arguments, call.pass_reason);
    if (memory_of(arguments, call.shape).any_unserved())
        return pass(&context, arguments, PassReason::device_not_in_use);
    if (context.identity().rank_count() == 1)
        return reduce_alone(context, CallKind::allreduce, arguments, call.shape);
    const Route route =
        route_in(context, call.shape, {.in_place = is_in_place(arguments), .blocking = true});
    if (route.passes()) return pass(&context, arguments, route.pass_reason);
    return run_allreduce(context, arguments, call.shape, route);
}

Status check_residual(const ReduceArguments& arguments, const CallShape& shape,
                      const GC_Residual_s* residual) {
    if (residual == nullptr)
        return {Code::invalid_argument,
                "residual is GC_RESIDUAL_NULL; GC_Allreduce does without one"};
    if (!is_floating(shape.type))
        return {Code::invalid_type,
                fmt::format("datatype is {}; a residual goes with floating-point types",
                            name_of(shape.type))};
    if (shape.op != ReduceOp::sum)
        return {Code::invalid_op,
                fmt::format("op is {}; a residual goes with MPI_SUM", name_of(shape.op))};
    if (residual->context->identity().user_comm() != arguments.comm)
        return {Code::invalid_argument, "residual was made on another communicator"};
    return {};
}

Outcome allreduce_with_residual(const ReduceArguments& arguments, GC_Residual residual) {
    GRADCOLL_TRY(check_allreduce(arguments, Reach::host_and_devices));
    const Classified call = classify(arguments.count, arguments.datatype, arguments.op);
    if (call.passes())
        return Status(Code::invalid_type,
                      fmt::format("with a residual, {}", text_of(call.pass_reason)));
    GRADCOLL_TRY(check_residual(arguments, call.shape, residual));
    CommContext& context = *residual->context;
    const CallTimer timer(context.statistics());
    GRADCOLL_TRY(check_alike(context, "GC_Allreduce_residual", arguments));
    if (context.identity().rank_count() == 1)
        return reduce_alone(context, CallKind::allreduce, arguments, call.shape);
    const Route route =
        route_in(context, call.shape,
                 {.in_place = is_in_place(arguments), .feedback = true, .blocking = true});
    return run_allreduce(context, arguments, call.shape, route, residual->residual.get());
}

}  // namespace
}  // namespace gradcoll

using gradcoll::at_boundary;

extern "C" int GC_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm) {
    return at_boundary(comm, "GC_Allreduce", [&] {
        return gradcoll::allreduce({sendbuf, recvbuf, count, datatype, op, comm});
    });
}

extern "C" int GC_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    return at_boundary(comm, "GC_Allreduce_c", [&] {
        return gradcoll::allreduce({sendbuf, recvbuf, count, datatype, op, comm});
    });
}

extern "C" int GC_Allreduce_residual(const void* sendbuf, void* recvbuf, MPI_Count count,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                     GC_Residual residual) {
    return at_boundary(comm, "GC_Allreduce_residual", [&] {
        return gradcoll::allreduce_with_residual({sendbuf, recvbuf, count, datatype, op, comm},
                                                 residual);
    });
}
