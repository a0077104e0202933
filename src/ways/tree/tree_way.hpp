// ways/tree/tree_way.hpp - the way over the tree of all ranks, for callers that wait.
#pragma once

#include "runtime/binding.hpp"
#include "ways/tree/comm_plans.hpp"
#include "ways/tree/residual.hpp"
#include "ways/way.hpp"

namespace gradcoll {

/// BlockingExtras are what few operations have.
struct BlockingExtras {
    Residual* residual = nullptr;  ///< goes with keys that have feedback
    std::shared_ptr<DeviceSide> device =
        {};                           ///< the device of the binding's memory; null: the host
    const Status* refusal = nullptr;  ///< as in a Binding
    PieceMaker* maker = nullptr;      ///< as in a WayCall
};

/// Begins the operation on the tree, makes progress (also of persistent requests that are started,
/// so that no rank waits for another in vain) until it is complete, and counts it. The binding's
/// sequence and residual are filled in. Errors: those of the executor; invalid_argument if the
/// residual does not fit.
Status run_blocking(CommPlans& plans, CallKind kind, const CallKey& key, Binding binding,
                    const BlockingExtras& extras = {});

}  // namespace gradcoll
