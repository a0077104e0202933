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

/// Where an allreduce goes under the settings and at the step of its communicator.
Route route_in(const CommContext& context, const CallShape& shape, bool in_place, bool feedback);

/// The input and output of a call as a binding; the sequence is filled in when the operation
/// begins.
Binding binding_of(const ReduceArguments& arguments, const CallShape& shape);

inline bool is_in_place(const ReduceArguments& arguments) {
    return arguments.sendbuf == MPI_IN_PLACE;
}

/// The result on a tree of one rank.
void copy_to_self(const ReduceArguments& arguments, const CallShape& shape);

}  // namespace gradcoll
