// call/blocks.hpp - calls in MPI's block layout on the tree or through the memory of one
// host: reduce-scatter and allgather.
#pragma once

#include "call/call.hpp"

namespace gradcoll {

/// Run and count an admitted call that does not pass.
Status run_reduce_scatter(const Call& call);
Status run_allgather(const Call& call);

/// As refuse_allreduce() or refuse_nonblocking(), of a call of any kind; of a request that is set
/// up for an unchanged program, agree_on_arguments().
void refuse_call(const Call& call, const Status& why);

}  // namespace gradcoll
