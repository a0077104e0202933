// call/blocks.hpp - blocking calls of every kind, each by the way of its route: allreduces
// (blocking.hpp), and those in MPI's block layout or with a root.
#pragma once

#include "call/call.hpp"

namespace gradcoll {

/// Runs and counts an admitted blocking call that does not pass.
Status run_call(const Call& call);

/// Does what refuse_allreduce() or refuse_nonblocking() does, for a call of any kind. For a request
/// that is set up for an unchanged program it does what agree_on_arguments() does.
void refuse_call(const Call& call, const Status& why);

}  // namespace gradcoll
