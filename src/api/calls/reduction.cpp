#include "api/calls/reduction.hpp"

#include <cstring>

namespace gradcoll {

Route foreseen_blocking_route(const CommContext& context, const CallShape& shape) {
    return context.foreseen_route(shape, {.step = context.settings().step(),
                                          .sums = shape.op == ReduceOp::sum,
                                          .one_host = context.one_host().may_open()});
}

Binding binding_of(const CallArguments& arguments, const CallShape& shape) {
    Binding binding;
    binding.input = is_in_place(arguments) ? arguments.recvbuf : arguments.sendbuf;
    binding.output = arguments.recvbuf;
    binding.reducer = shape.reducer;
    return binding;
}

void copy_to_self(const CallArguments& arguments, const CallShape& shape) {
    if (is_in_place(arguments) || shape.count == 0) return;
    std::memcpy(arguments.recvbuf, arguments.sendbuf, shape.size_bytes());
}

}  // namespace gradcoll
