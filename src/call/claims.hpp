// call/claims.hpp - what ranks compare of their calls (gc_check=collective).
#pragma once

#include <vector>

#include "call/call.hpp"
#include "comm/agreement.hpp"

namespace gradcoll {

/// Returns as many claims for every kind of call, as ranks may have made different ones.
/// `complaint` is what this rank found wrong with its arguments; `aliased` is why the MPI library
/// would refuse its buffers, which are one.
std::vector<Claim> claims_of(const Call& call, const Status& complaint, PassReason aliased);

}  // namespace gradcoll
