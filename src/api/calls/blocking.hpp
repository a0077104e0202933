// api/calls/blocking.hpp - an operation on the tree from begin to end, while the caller waits.
#pragma once

#include "api/calls/residual.hpp"
#include "api/comm/comm_context.hpp"

namespace gradcoll {

/// What few operations have.
struct BlockingExtras {
    Residual* residual = nullptr;             ///< goes with keys that have feedback
    std::shared_ptr<DeviceSide> device = {};  ///< that the binding's memory is on; null: the host
};

/// Begins the operation, makes progress (also of persistent requests that are started, so that no
/// rank waits for another in vain) until it is complete, and counts it. The binding's sequence and
/// residual are filled in. Errors: those of the
/// executor; invalid_argument if the residual does not fit.
Status run_blocking(CommContext& context, CallKind kind, const CallKey& key, Binding binding,
                    const BlockingExtras& extras = {});

}  // namespace gradcoll
