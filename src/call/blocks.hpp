// call/blocks.hpp - calls in MPI's block layout on the tree or through the memory of one
// host: reduce-scatter and allgather.
#pragma once

#include "call/call.hpp"

namespace gradcoll {

/// Runs and counts an admitted call that does not pass.
Status run_reduce_scatter(const Call& call);
Status run_allgather(const Call& call);

/// Does what refuse_allreduce() or refuse_nonblocking() does, for a call of any kind. For a request
/// that is set up for an unchanged program it does what agree_on_arguments() does.
void refuse_call(const Call& call, const Status& why);

}  // namespace gradcoll
