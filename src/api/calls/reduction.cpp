#include "api/calls/reduction.hpp"

#include <fmt/format.h>

#include <cstring>

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

/// OneHost is left to who knows whether the question may be collective.
RouteQuestion question_in(const CommContext& context, const CallShape& shape,
                          const CallManner& manner) {
    return {.in_place = manner.in_place,
            .feedback = manner.feedback,
            .step = context.settings().step(),
            .sums = shape.op == ReduceOp::sum};
}

}  // namespace

Status check_alike(const CommContext& context, const char* call, const ReduceArguments& arguments) {
    if (!context.settings().checks_calls()) return {};
    return context.settings().check_alike({{"the call", call},
                                           {"count", std::to_string(arguments.count)},
                                           {"datatype", type_text(arguments.datatype)},
                                           {"op", op_text(arguments.op)}});
}

Route route_in(CommContext& context, const CallShape& shape, const CallManner& manner) {
    RouteQuestion question = question_in(context, shape, manner);
    question.one_host = manner.blocking && context.one_host().open();
    return context.route(context.settings().current(), shape, question);
}

Route foreseen_blocking_route(const CommContext& context, const CallShape& shape) {
    RouteQuestion question = question_in(context, shape, {.blocking = true});
    question.one_host = context.one_host().may_open();
    return context.foreseen_route(shape, question);
}

void count_passed(CommContext* context, CallKind kind, const ReduceArguments& arguments,
                  PassReason reason) {
    const std::uint64_t bytes = observed_bytes(arguments.count, arguments.datatype);
    if (context != nullptr)
        context->statistics().count_passed(kind, bytes, reason);
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
