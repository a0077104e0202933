// api/calls/reduction.hpp - what calls that reduce share, whoever makes them: where one would go,
// the memory it works on.
#pragma once

#include "api/comm/comm_context.hpp"
#include "api/comm/route.hpp"
#include "api/edge/request.hpp"

namespace gradcoll {

/// Where the next blocking allreduce would go; counts and makes nothing.
Route foreseen_blocking_route(const CommContext& context, const CallShape& shape);

/// The input and output of a call as a binding; the sequence is filled in when the operation
/// begins.
Binding binding_of(const CallArguments& arguments, const CallShape& shape);

/// The result on a tree of one rank.
void copy_to_self(const CallArguments& arguments, const CallShape& shape);

}  // namespace gradcoll
