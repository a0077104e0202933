// api/calls/run_allreduce.hpp - a blocking allreduce once it is known where it goes.
#pragma once

#include "api/calls/residual.hpp"
#include "api/comm/comm_context.hpp"
#include "api/comm/route.hpp"
#include "api/edge/request.hpp"

namespace gradcoll {

/// Runs an allreduce that does not pass, from and to any memory, counts it, and measures its error
/// if it is the turn of this call (which all ranks know alike). `arguments`: of the call, with
/// separate buffers or in place. `residual`: of a route with feedback, else null.
Status run_allreduce(CommContext& context, const ReduceArguments& arguments, const CallShape& shape,
                     const Route& route, Residual* residual = nullptr);

}  // namespace gradcoll
