// call/packed_allreduce.hpp - allreduces by ops of the program whose elements lie in memory
// otherwise than they go to other ranks: the input is packed, and the result unpacked.
#pragma once

#include "call/call.hpp"

namespace gradcoll {

/// Runs the call on host memory, over one host; what lies in the gaps of the result's datatype
/// stays as it is. Allocates for vectors of more than 1 KiB. Errors: those of OneHost::allreduce()
/// and pack(), and out_of_memory; the other ranks are told.
Status run_packed_on_host(CommContext& context, const CallArguments& arguments,
                          const CallShape& shape);
/// Runs an admitted call, whose buffers may be in any memory. Errors: those of run_packed_on_host()
/// and of devices.
Status run_packed(const Call& call);

}  // namespace gradcoll
