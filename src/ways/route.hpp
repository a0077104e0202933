// ways/route.hpp - where one call goes: to the tree, and how, or to the MPI library, and why.
// Pure; rests only on facts that all ranks share, or ranks would part ways and hang.
#pragma once

#include <cstdint>
#include <optional>

#include "comm/exact_reason.hpp"
#include "mpi/request.hpp"
#include "settings/settings.hpp"
#include "ways/tree/call_decision.hpp"

namespace gradcoll {

/// What a call adds to its shape.
struct RouteQuestion {
    Collective collective = Collective::allreduce;
    bool in_place = false;
    bool feedback = false;  ///< a residual goes with it: always to the tree
    std::int64_t step = 0;  ///< of the settings' schedule
    bool sums = true;  ///< op is a sum, or nothing is reduced: the only calls that may be lossy
    bool always_exact = false;      ///< a kind of call that is never compressed
    bool comm_may_be_lossy = true;  ///< GC_COMPRESS_COMMS allows the communicator
    bool one_host = false;          ///< a call that is waited for, and OneHost is open
    bool hosts = false;             ///< the same, and SeveralHosts takes it if it is exact
    bool hosts_if_lossy = false;    ///< ... and takes it if it is compressed
    bool agents = false;            ///< the same of AgentSums, which comes before
    bool agents_if_lossy = false;
    std::uint64_t call = 0;  ///< its number among the communicator's compressible calls
    /// Why a call that may be compressed is exact all the same (codec_use.hpp).
    ExactReason left_out = ExactReason::none;
};

struct Route {
    PassReason pass_reason = PassReason::none;  ///< none: to the tree, or over one host
    ExactReason exact_reason = ExactReason::none;
    bool one_host = false;  ///< not over the tree, but through the memory that all ranks share
    bool hosts = false;     ///< through the memory of each host, and between hosts
    bool agents = false;    ///< NIC agents add it (agent_sums.hpp); the rest would go over the tree
    bool tries_mpi = false;  ///< by the MPI library, whose time is taken (way_trials.hpp)
    CallKey key;
    RouteQuestion question;  ///< that it answers

    /// Whether the tree of all ranks serves it.
    bool needs_tree() const { return !passes() && !one_host && !hosts && !tries_mpi; }

    bool passes() const { return pass_reason != PassReason::none; }
};

/// Whether a reduction of that type and op would be compressed if long enough, by some codec that
/// the settings have.
inline bool may_be_lossy(const Settings& settings, const CallShape& shape) {
    return shape.sums() && settings.ever_compresses(shape.type);
}

/// Whether gc_tolerance promises something of the call's result, exact or not.
inline bool keeps_tolerance(const Settings& settings, const CallShape& shape) {
    return settings.tolerance && shape.sums() && is_floating(shape.type) && shape.count > 0;
}

/// Whether the call would be compressed if gc_compress_calls allowed all: such calls of a
/// communicator are numbered.
bool is_compressible(const Settings& settings, const CallShape& shape,
                     const RouteQuestion& question);

/// The first step of the settings' schedule at which it is so (without a schedule that of
/// `question`); none if it never is. Calls that have one advance the step (gc_step_every).
std::optional<std::int64_t> first_compressible_step(const Settings& settings,
                                                    const CallShape& shape, RouteQuestion question);

/// `shape.count` counts the whole vector.
Route route_of(const Settings& settings, const CallShape& shape, const RouteQuestion& question);

/// The same call without a codec.
Route exact_route(const Settings& settings, const CallShape& shape, const Route& route,
                  ExactReason reason);

/// The same of a call that is compressed only if `left_out_of(route)`, asked where it would be,
/// finds no reason against it.
template <class LeftOutOf>
Route route_unless_left_out(const Settings& settings, const CallShape& shape,
                            RouteQuestion question, LeftOutOf&& left_out_of) {
    const Route route = route_of(settings, shape, question);
    if (!route.key.compress) return route;
    question.left_out = left_out_of(route);
    return question.left_out == ExactReason::none ? route : route_of(settings, shape, question);
}

}  // namespace gradcoll
