// api/route.hpp - where one call goes: to the tree, and how, or to the MPI library, and why. Pure;
// rests only on facts that all ranks share, or ranks would part ways and hang.
#pragma once

#include <cstdint>

#include "api/planned_call.hpp"
#include "api/request.hpp"
#include "api/settings.hpp"

namespace gradcoll {

/// What a call adds to its shape.
struct RouteQuestion {
    Collective collective = Collective::allreduce;
    bool in_place = false;
    bool feedback = false;  ///< a residual goes with it: always to the tree
    std::int64_t step = 0;  ///< of the settings' schedule
    bool sums = true;  ///< op is a sum, or nothing is reduced: the only calls that may be lossy
};

struct Route {
    const char* pass_reason = nullptr;   ///< static text; null: to the tree
    const char* exact_reason = nullptr;  ///< static text: why not compressed; null: it is
    CallKey key;
};

/// `shape.count` counts the whole vector.
Route route_of(const Settings& settings, const CallShape& shape, const RouteQuestion& question);

}  // namespace gradcoll
