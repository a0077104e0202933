// GC_Allreduce, GC_Allreduce_c, GC_Allreduce_residual.
#include "api/calls/reduction.hpp"

#include <fmt/format.h>

#include <cstring>

#include "api/calls/device_allreduce.hpp"
#include "api/calls/handles.hpp"
#include "api/calls/run_allreduce.hpp"
#include "api/comm/attachments.hpp"
#include "api/comm/route.hpp"
#include "gradcoll/collectives.h"

namespace gradcoll {
namespace {

std::string type_text(MPI_Datatype datatype) {
    if (const auto known = known_type(datatype)) return std::string(name_of(known->type));
    int size_bytes = 0;
    PMPI_Type_size(datatype, &size_bytes);
    return fmt::format("another type of {} bytes", size_bytes);
}

std::string op_text(MPI_Op op) {
    const auto known = known_op(op);
    return known ? std::string(name_of(*known)) : "another op";
}

Outcome pass(CommContext* context, const ReduceArguments& arguments, const char* reason) {
    count_passed(context, CallKind::allreduce, arguments, reason);
    const CallMemory memory = memory_of(arguments);
    return memory.any_device() ? pass_device_allreduce(context, arguments, memory)
                               : pass_allreduce(arguments);
}

/// On a tree of one rank the input is the result.
Status reduce_alone(CommContext& context, const ReduceArguments& arguments,
                    const CallShape& shape) {
    const CallMemory memory = memory_of(arguments, shape);
    if (memory.any_device())
        GRADCOLL_TRY(copy_to_self_on_device(context, arguments, shape, memory));
    else
        copy_to_self(arguments, shape);
    context.count_local_call(CallKind::allreduce, shape.size_bytes());
    return {};
}

Outcome allreduce(const ReduceArguments& arguments) {
    GRADCOLL_TRY(check_allreduce(arguments, Reach::host_and_devices));
    const auto found = context_of(arguments.comm);
    if (!found) return found.status();
    if (!*found) return pass(nullptr, arguments, "comm is an intercommunicator");
    CommContext& context = **found;
    const CallTimer timer(context);
    if (context.checks_calls())
        GRADCOLL_TRY(context.check_alike(claims_of("GC_Allreduce", arguments)));

    const Classified call = classify(arguments.count, arguments.datatype, arguments.op);
    if (call.pass_reason != nullptr) return pass(&context, arguments, call.pass_reason);
    if (memory_of(arguments, call.shape).any_unserved())
        return pass(&context, arguments, "a buffer is memory of a device that is not in use");
    if (context.rank_count() == 1) {
        return reduce_alone(context, arguments, call.shape);
    }
    const Route route =
        route_in(context, call.shape, {.in_place = is_in_place(arguments), .blocking = true});
    if (route.pass_reason != nullptr) return pass(&context, arguments, route.pass_reason);
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
    if (residual->context->user_comm() != arguments.comm)
        return {Code::invalid_argument, "residual was made on another communicator"};
    return {};
}

Outcome allreduce_with_residual(const ReduceArguments& arguments, GC_Residual residual) {
    GRADCOLL_TRY(check_allreduce(arguments, Reach::host_and_devices));
    const Classified call = classify(arguments.count, arguments.datatype, arguments.op);
    if (call.pass_reason != nullptr)
        return Status(Code::invalid_type, fmt::format("with a residual, {}", call.pass_reason));
    GRADCOLL_TRY(check_residual(arguments, call.shape, residual));
    CommContext& context = *residual->context;
    const CallTimer timer(context);
    if (context.checks_calls())
        GRADCOLL_TRY(context.check_alike(claims_of("GC_Allreduce_residual", arguments)));
    if (context.rank_count() == 1) {
        return reduce_alone(context, arguments, call.shape);
    }
    const Route route =
        route_in(context, call.shape,
                 {.in_place = is_in_place(arguments), .feedback = true, .blocking = true});
    return run_allreduce(context, arguments, call.shape, route, residual->residual.get());
}

}  // namespace

std::vector<Claim> claims_of(const char* call, const ReduceArguments& arguments) {
    return {{"the call", call},
            {"count", std::to_string(arguments.count)},
            {"datatype", type_text(arguments.datatype)},
            {"op", op_text(arguments.op)}};
}

RouteQuestion question_in(const CommContext& context, const CallShape& shape,
                          const CallManner& manner) {
    RouteQuestion question;
    question.in_place = manner.in_place;
    question.feedback = manner.feedback;
    question.step = context.step();
    question.sums = shape.op == ReduceOp::sum;
    return question;
}

Route route_in(CommContext& context, const CallShape& shape, const CallManner& manner) {
    RouteQuestion question = question_in(context, shape, manner);
    question.has_host_way = manner.blocking && context.has_host_way();
    return context.route(context.settings(), shape, question);
}

Route foreseen_blocking_route(const CommContext& context, const CallShape& shape) {
    RouteQuestion question = question_in(context, shape, {.blocking = true});
    question.has_host_way = context.leaves_host_way();
    return context.foreseen_route(shape, question);
}

void count_passed(CommContext* context, CallKind kind, const ReduceArguments& arguments,
                  const char* reason) {
    const std::uint64_t bytes = observed_bytes(arguments.count, arguments.datatype);
    if (context != nullptr)
        context->count_passed(kind, bytes, reason);
    else
        count_unattached(arguments.comm, kind, bytes, reason);
}

Binding binding_of(const ReduceArguments& arguments, const CallShape& shape) {
    Binding binding;
    binding.input = is_in_place(arguments) ? arguments.recvbuf : arguments.sendbuf;
    binding.output = arguments.recvbuf;
    binding.reducer = shape.reducer;
    return binding;
}

void copy_to_self(const ReduceArguments& arguments, const CallShape& shape) {
    if (is_in_place(arguments) || shape.count == 0) return;
    std::memcpy(arguments.recvbuf, arguments.sendbuf, shape.size_bytes());
}

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
