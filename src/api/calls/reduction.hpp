// api/calls/reduction.hpp - what calls that reduce share, whoever makes them: what the ranks
// compare, where a call goes, what it counts as, the memory it works on.
#pragma once

#include "api/comm/comm_context.hpp"
#include "api/comm/route.hpp"
#include "api/edge/request.hpp"

namespace gradcoll {

/// With gc_check=collective: fails on all ranks if they made different calls, or with other counts,
/// datatypes or ops. Collective then, else nothing.
Status check_alike(const CommContext& context, const char* call, const ReduceArguments& arguments);

/// How an allreduce is called.
struct CallManner {
    bool in_place = false;
    bool feedback = false;
    bool blocking = false;  ///< the caller waits in the call
};

/// Where an allreduce goes under the settings and at the step of its communicator, which counts it
/// if it is compressible. Collective if blocking.
Route route_in(CommContext& context, const CallShape& shape, const CallManner& manner);

/// Where the next blocking one would go; counts and makes nothing.
Route foreseen_blocking_route(const CommContext& context, const CallShape& shape);

/// Counts a call that passes to the MPI library; `context` is null if its communicator has none.
void count_passed(CommContext* context, CallKind kind, const ReduceArguments& arguments,
                  PassReason reason);

/// The input and output of a call as a binding; the sequence is filled in when the operation
/// begins.
Binding binding_of(const ReduceArguments& arguments, const CallShape& shape);

/// The result on a tree of one rank.
void copy_to_self(const ReduceArguments& arguments, const CallShape& shape);

}  // namespace gradcoll
