// ways/route.hpp - where one call goes: to the tree, and how, or to the MPI library, and why.
// Pure; rests only on facts that all ranks share, or ranks would part ways and hang.
#pragma once

#include <cstdint>
#include <optional>

#include "comm/exact_reason.hpp"
#include "mpi/request.hpp"
#include "settings/settings.hpp"
#include "ways/tree/call_decision.hpp"
#include "ways/way.hpp"

namespace gradcoll {

/// RouteQuestion holds what a route depends on besides the shape of the call.
struct RouteQuestion {
    CallKind kind = CallKind::allreduce;
    bool in_place = false;
    bool feedback = false;  ///< a residual goes with it: always to the tree
    std::int64_t step = 0;  ///< current step of the settings' schedule
    bool sums = true;  ///< op is a sum, or nothing is reduced: the only calls that may be lossy
    bool always_exact = false;      ///< whether the call is of a kind that is never compressed
    bool comm_may_be_lossy = true;  ///< whether GC_COMPRESS_COMMS allows the communicator
    bool may_zip = true;            ///< whether exact floats may be packed where that pays
    WayOffers offers = {};          ///< which ways other than the tree take the call
    std::uint64_t call = 0;         ///< its number among the communicator's compressible calls
    /// This says why a call that may be compressed is exact all the same (codec_use.hpp).
    ExactReason left_out = ExactReason::none;
};

/// A Route says where one call goes.
struct Route {
    PassReason pass_reason = PassReason::none;  ///< why the MPI library does the call; none: it
                                                ///< does not, unless it is tried
    ExactReason exact_reason = ExactReason::none;
    const WayInfo* way = &tree_way();
    CallKey key;
    RouteQuestion question;  ///< the question that this route answers

    bool passes() const { return pass_reason != PassReason::none; }
    bool goes(const WayInfo& there) const { return way == &there; }
    /// Returns whether the MPI library does the call so that its time is known (way_trials.hpp).
    bool tries_mpi() const { return way == &mpi_way() && !passes(); }
    /// Returns whether the tree of all ranks serves it, or what is left of it.
    bool needs_tree() const { return way->over_tree; }
};

/// Returns whether a reduction of that type and op would be compressed if long enough, by some
/// codec that the settings have.
inline bool may_be_lossy(const Settings& settings, const CallShape& shape) {
    return shape.sums() && settings.ever_compresses(shape.type);
}

/// Returns whether gc_tolerance promises something of the call's result, exact or not.
inline bool keeps_tolerance(const Settings& settings, const CallShape& shape) {
    return settings.tolerance && shape.sums() && is_floating(shape.type) && shape.count > 0;
}

/// Returns whether the call would be compressed if gc_compress_calls allowed all. Such calls of a
/// communicator are numbered.
bool is_compressible(const Settings& settings, const CallShape& shape,
                     const RouteQuestion& question);

/// Returns the first step of the settings' schedule at which the call is compressible (without a
/// schedule that of `question`); none if it never is. Calls that have such a step advance the
/// communicator's step (every= in gc_codec).
std::optional<std::int64_t> first_compressible_step(const Settings& settings,
                                                    const CallShape& shape, RouteQuestion question);

/// Returns the route of a call. `shape.count` counts the elements of the whole vector.
Route route_of(const Settings& settings, const CallShape& shape, const RouteQuestion& question);

/// Returns the route of the same call without a codec, which is left out for `reason`.
Route exact_route(const Settings& settings, const CallShape& shape, const Route& route,
                  ExactReason reason);

/// Returns the route of a call that is compressed only if `left_out_of(route)` finds no reason
/// against it; that is asked only where the call would be compressed.
template <class LeftOutOf>
Route route_unless_left_out(const Settings& settings, const CallShape& shape,
                            RouteQuestion question, LeftOutOf&& left_out_of) {
    const Route route = route_of(settings, shape, question);
    if (!route.key.compress) return route;
    question.left_out = left_out_of(route);
    return question.left_out == ExactReason::none ? route : route_of(settings, shape, question);
}

}  // namespace gradcoll
