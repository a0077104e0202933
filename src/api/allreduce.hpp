// api/allreduce.hpp - what the allreduce calls share.
#pragma once

#include <vector>

#include "api/comm_context.hpp"
#include "api/request.hpp"
#include "api/route.hpp"

namespace gradcoll {

/// What gc_check=collective compares: names with values, the same on all ranks if the program is
/// right.
std::vector<Claim> claims_of(const char* call, const ReduceArguments& arguments);

/// What an allreduce asks of the route: its op, and the step its communicator is at.
RouteQuestion question_in(const CommContext& context, const CallShape& shape, bool in_place,
                          bool feedback);
/// Where an allreduce goes under the settings and at the step of its communicator, which counts it
/// if it is compressible.
Route route_in(CommContext& context, const CallShape& shape, bool in_place, bool feedback);

/// Counts a call that passes to the MPI library; `context` is null if its communicator has none.
void count_passed(CommContext* context, CallKind kind, const ReduceArguments& arguments,
                  const char* reason);

/// The input and output of a call as a binding; the sequence is filled in when the operation
/// begins.
Binding binding_of(const ReduceArguments& arguments, const CallShape& shape);

/// The result on a tree of one rank.
void copy_to_self(const ReduceArguments& arguments, const CallShape& shape);

}  // namespace gradcoll
