// ways/comm_trials.cpp - which of two ways the calls of a communicator go, tried call by call:
// CommContext's part of way_trials.hpp.
#include "base/log.hpp"
#include "base/mpi/exchange.hpp"
#include "observe/observe.hpp"
#include "ways/comm_context.hpp"
#include "ways/learn/remembered_ways.hpp"

namespace gradcoll {

/// Tries ways only if the library chooses both the tree and the way, and not where survivors agree
/// on sums, as the MPI library's have no votes. Rank 0 tells the others what it has kept.
Status CommContext::begin_trials() {
    const Settings& settings = settings_.current();
    trials_.stop();
    zip_trials_.stop();
    if (keeps_plans_ || settings_.text()[OptionId::topology] != "auto" ||
        settings.tune == Tune::off || settings.fault == Fault::survive || settings.anywhere ||
        settings.check_sums || settings.chooses_plan() || identity_.is_one_host() ||
        devices_.any_in_use())
        return {};
    TriedWays known{};
    if (identity_.rank() == 0) known = remembered_ways(tree_->tree);
    GRADCOLL_TRY(broadcast(identity_.private_comm(), known));
    trials_.begin(known, settings.tune == Tune::online);
    zip_trials_.begin({}, settings.tune == Tune::online);
    return {};
}

bool CommContext::may_be_tried(const Route& route, const CallShape& shape) const {
    return may_go_another_way(shape.size_bytes()) && !route.passes() && route.way->is_timed &&
           !route.key.compress && !route.key.feedback;
}

/// Returns how the messages of a call would go if it were packed like that.
Decision CommContext::decision_of(const Route& route, Zips zips) const {
    CallKey key = route.key;
    key.in_place = false;  // ranks may differ in it
    key.zips = zips;
    const BetweenHosts* const between =
        route.goes(hosts_way()) ? several_hosts_.between() : nullptr;
    return between != nullptr ? decision_for(between->tree->tree, between->settings, key)
                              : decision_for(tree_->tree, settings_.current(), key);
}

bool CommContext::is_surely_faster(const Route& route, const CallShape& shape) const {
    return gradcoll::is_surely_faster(tree_->tree, *settings_.current().tuning,
                                      static_cast<std::int64_t>(shape.size_bytes()),
                                      decision_of(route, route.key.zips).predicted_us);
}

/// Returns how else such calls could be packed: not at all where something is, or for faster links,
/// too, where nothing is; `slow_links`, as they are, if that changes nothing.
Zips CommContext::other_zips(const Route& route) const {
    if (is_lossy(decision_of(route, Zips::slow_links).spec)) return Zips::no_links;
    if (is_lossy(decision_of(route, Zips::faster_links).spec)) return Zips::faster_links;
    return Zips::slow_links;
}

/// How calls are packed is tried first, so that the MPI library is compared with the better of it.
Route CommContext::tried_route(Route route, const CallShape& shape) {
    if (!may_be_tried(route, shape)) return route;
    const std::uint64_t bytes = shape.size_bytes();
    if (tries_zips(route.key, bytes) && zip_trials_.is_about_to_begin(bytes) &&
        other_zips(route) == Zips::slow_links)
        zip_trials_.settle(bytes);
    if (tries_zips(route.key, bytes)) {
        if (zip_trials_.next(bytes) == TriedWay::other) route.key.zips = other_zips(route);
        return route;
    }
    if (trials_.is_about_to_begin(bytes) && is_surely_faster(route, shape)) trials_.settle(bytes);
    route = foreseen_tried_route(route, shape);
    if (route.passes() || !trials_.tries(bytes)) return route;
    if (trials_.next(bytes) == TriedWay::other) route.way = &mpi_way();
    return route;
}

Route CommContext::foreseen_tried_route(Route route, const CallShape& shape) const {
    const std::uint64_t bytes = shape.size_bytes();
    if (!may_be_tried(route, shape) || tries_zips(route.key, bytes)) return route;
    if (route.key.zips != Zips::nothing && zip_trials_.next(bytes) == TriedWay::other)
        route.key.zips = other_zips(route);
    if (passes_for_good(bytes)) {
        route.pass_reason = PassReason::slower_when_tried;
        route.way = &mpi_way();
    }
    return route;
}

Status CommContext::add_to_trial(const LongCall& call, TriedWay way) {
    const auto found =
        trials_.add(identity_.private_comm(), call.vector_bytes, way, call.elapsed_ns);
    if (!found) return found.status();
    if (!*found) return {};
    const bool is_by_mpi = trials_.next(call.vector_bytes) == TriedWay::other;
    if (const auto entry = report_entry(identity_.private_comm()))
        entry->report.add_trial(entry->comm, {call.vector_bytes, (*found)->ours_ns * 1e-3,
                                              (*found)->other_ns * 1e-3, is_by_mpi});
    if (identity_.rank() == 0) remember_ways(tree_->tree, trials_.known());
    log(LogLevel::info, "communicator '{}': {} bytes took {:.1f} us, by the MPI library {:.1f}: {}",
        identity_.name(), call.vector_bytes, (*found)->ours_ns * 1e-3, (*found)->other_ns * 1e-3,
        is_by_mpi ? "such calls pass" : "they do not pass");
    return {};
}

Status CommContext::add_to_zip_trial(const LongCall& call) {
    const auto found =
        zip_trials_.add(identity_.private_comm(), call.vector_bytes,
                        call.zips_otherwise ? TriedWay::other : TriedWay::ours, call.elapsed_ns);
    if (!found) return found.status();
    if (*found)
        log(LogLevel::info,
            "communicator '{}': {} bytes took {:.1f} us, {:.1f} packed otherwise: {}",
            identity_.name(), call.vector_bytes, (*found)->ours_ns * 1e-3,
            (*found)->other_ns * 1e-3,
            zip_trials_.next(call.vector_bytes) == TriedWay::other ? "so they are"
                                                                   : "they stay as they are");
    return {};
}

Status CommContext::add_timed_call(const LongCall& call, TriedWay way) {
    const bool was_settled = learning_.is_settled();
    if (call.exact && !call.ends_apart && may_go_another_way(call.vector_bytes)) {
        if (call.may_zip && zip_trials_.tries(call.vector_bytes))
            GRADCOLL_TRY(add_to_zip_trial(call));
        else
            GRADCOLL_TRY(add_to_trial(call, way));
    }
    if (way == TriedWay::ours && call.vector_bytes >= settings_.current().long_bytes())
        GRADCOLL_TRY(add_to_learning(call));
    if (!was_settled && learning_.is_settled()) known_ways_.forget();
    return {};
}

}  // namespace gradcoll
