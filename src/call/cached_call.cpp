#include "call/cached_call.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "attach/offered_comm.hpp"
#include "attach/presence.hpp"
#include "call/anywhere/integer_reduction.hpp"
#include "call/blocking.hpp"
#include "call/call_kinds.hpp"
#include "call/device_allreduce.hpp"
#include "call/nonblocking_call.hpp"
#include "mpi/mpi_reach.hpp"
#include "observe/comm_statistics.hpp"
#include "ways/route.hpp"

namespace gradcoll {
namespace {

/// Returns the length from which on vectors may be compressed.
std::uint64_t least_lossy_bytes(const Settings& settings, const CallShape& shape) {
    return may_be_lossy(settings, shape) ? settings.min_bytes
                                         : std::numeric_limits<std::uint64_t>::max();
}

bool may_be_repeated(const Call& call) {
    const Entry& entry = *call.entry;
    return collective_of(entry.kind) == Collective::allreduce && !entry.sets_up() &&
           !entry.with_residual && !call.alone && call.copy.bytes == nullptr &&
           call.shape.count > 0 && !call.memory.any_device();
}

std::uint64_t size_of(const CachedCall& way, const CallArguments& arguments) {
    return way.shape.item_bytes() * static_cast<std::uint64_t>(arguments.count);
}

Status run_on_tree(CommPlans& plans, CachedCall& way, const Binding& binding) {
    const bool in_place = binding.input == binding.output;
    if (way.planned == nullptr || way.key.count != way.shape.count ||
        way.key.in_place != in_place) {
        way.key.count = way.shape.count;
        way.key.in_place = in_place;
        GRADCOLL_TRY(take(way.planned, plans.planned(way.key)));
    }
    auto lease = plans.begin(CallKind::allreduce, way.planned, {.waited = true});
    return lease ? plans.run(std::move(lease).value(), binding) : lease.status();
}

Status run_on(CommContext& context, CachedCall& way, const CallArguments& arguments) {
    way.shape.set_count(arguments.count);
    if (way.shape.is_packed) return run_packed_on_host(context, arguments, way.shape);
    const Binding binding = binding_of(arguments, way.shape);
    if (way.goes(one_host_way())) return context.one_host().allreduce(binding, way.shape);
    const CallKey key = way.key;
    return run_timed(context, way.way->info(), way.shape, key, [&] {
        return way.goes(tree_way())
                   ? run_on_tree(context.plans(), way, binding)
                   : way.way->run({.arguments = arguments, .shape = way.shape, .key = key});
    });
}

}  // namespace

namespace {

/// Returns whether the call passes for now. If the price of attaching is all that is missing, asks
/// the ranks here: a loop that makes communicators asks for each of them, and most often goes on
/// without attaching.
bool passes_now(const Entry& entry, const CallArguments& arguments, AttachAccount& account,
                const KindOfCall& kind) {
    if (account.passes(arguments.count, kind)) return true;
    // A call that must not wait for others is counted, and leaves it to others to attach.
    if (!entry.may_wait()) {
        if (!account.counts_started(arguments.count, kind)) return false;
        attach_when_all_wait(arguments.comm, account);
        return true;
    }
    return account.lacks_price(arguments.count, kind) && !is_paid_on_all(arguments.comm, account) &&
           account.passes(arguments.count, kind);
}

/// Returns whether buffers are on devices, which the MPI library gets as copies if it refuses such
/// memory.
bool is_passed_by_copies(const Entry& entry, const CallArguments& arguments) {
    return entry.reach == Reach::host_and_devices && memory_of(arguments).any_device();
}

/// Returns whether the account of a communicator that is not attached lets the call of a program
/// pass. Calls of the GC_ API attach their communicator.
bool passes_by_account(const Entry& entry, const CallArguments& arguments, AttachAccount* account,
                       GC_Passed_call* passed) {
    const KindOfCall* const kind =
        entry.offered && account != nullptr ? known_kind(arguments) : nullptr;
    if (kind == nullptr) return false;
    const bool needs_look = may_have_memory_that_mpi_refuses();
    if (needs_look && is_passed_by_copies(entry, arguments)) return false;
    if (!passes_now(entry, arguments, *account, *kind)) return false;
    if (unattached_calls_are_told())
        count_passed(nullptr, entry, arguments, account->pass_reason());
    else if (passed != nullptr && !needs_look && (account->has_met() || !meetings_are_wanted()))
        *passed = passed_call(arguments, *account, *kind);
    return true;
}

}  // namespace

Shortcut start_cached(const Entry& entry, const CallArguments& arguments, MPI_Request* request,
                      Status& status, GC_Passed_call* passed) {
    const auto [context, account] = comm_for_short_way(arguments.comm);
    if (passes_by_account(entry, arguments, account, passed)) return Shortcut::passes;
    CachedCall* const way = context != nullptr ? context->call_cache().find(arguments) : nullptr;
    if (way == nullptr || !way->goes(one_host_way())) return Shortcut::no;
    way->shape.set_count(arguments.count);
    if (!context->one_host().may_start(way->shape)) return Shortcut::no;
    status = start_on_one_host({context->shared_from_this(), entry.name, arguments, way->shape},
                               request);
    return Shortcut::served;
}

Shortcut run_cached(const Entry& entry, const CallArguments& arguments, Status& status,
                    GC_Passed_call* passed) {
    if (entry.kind != CallKind::allreduce) return run_cached_on_one_host(entry, arguments, status);
    if (entry.with_residual) return Shortcut::no;
    const auto [context, account] =
        entry.offered ? comm_for_short_way(arguments.comm) : seen_comm(arguments.comm);
    if (passes_by_account(entry, arguments, account, passed)) return Shortcut::passes;
    CachedCall* const way = context != nullptr ? context->call_cache().find(arguments) : nullptr;
    if (way == nullptr || context->identity().has_dead_rank()) return Shortcut::no;
    if (way->pass_reason != PassReason::none) {
        count_passed(context, entry, arguments, way->pass_reason);
        return Shortcut::passes;
    }
    const CallTimer timer =
        entry.offered ? CallTimer() : context->statistics().timer_of(size_of(*way, arguments));
    const auto run = [&] { return run_on(*context, *way, arguments); };
    if (Status failed = run_agreed(*context, run); !failed.ok()) status = std::move(failed);
    return Shortcut::served;
}

namespace {

/// Sets the bounds of lengths between which every exact vector goes the same way under the
/// settings. Vectors that are long enough to have the tree made are outside, and admitted.
void set_bounds(CachedCall& way, const CommContext& context, const CallShape& shape) {
    const Settings& settings = context.settings().current();
    const std::uint64_t least_lossy = least_lossy_bytes(settings, shape);
    const bool passes =
        way.pass_reason != PassReason::none && way.pass_reason != PassReason::slower_when_tried;
    way.least_bytes = passes || !way.goes(tree_way()) ? 0 : settings.tree_min_bytes;
    const bool may_make_tree = passes || (!context.has_tree() && !way.goes(one_host_way())) ||
                               (way.goes(hosts_way()) && !context.several_hosts().takes_long());
    way.end_bytes = may_make_tree ? std::min(settings.tree_min_bytes, least_lossy) : least_lossy;
}

/// Returns whether it matters which number a call has among those that may be compressed.
bool counts_calls(const Settings& settings) {
    return !settings.schedule.empty() || settings.calls_per_step > 0 ||
           !settings.compress_calls.allows_all();
}

/// Bounds the way to this one size, for which it was found out that its codec does not pay. Returns
/// false if the way cannot be learnt.
bool set_size(CachedCall& way, const Settings& settings, const Call& call) {
    if (counts_calls(settings)) return false;
    way.least_bytes = call.shape.size_bytes();
    way.end_bytes = way.least_bytes + 1;
    return true;
}

/// Narrows the bounds if ways are tried; returns false if the next call may go another way. Each
/// class of sizes is tried by itself, and when the trials of long calls begin, ways are forgotten.
bool set_tried(CachedCall& way, const CommContext& context, const Call& call) {
    const std::uint64_t size_bytes = call.shape.size_bytes();
    const std::uint64_t least_timed = context.least_timed_bytes();
    if (!way.way->info().is_timed || !context.trials().is_on()) return true;
    if (size_bytes < least_timed) {
        way.end_bytes = std::min(way.end_bytes, least_timed);
        return true;
    }
    const WayTrials::Size size = WayTrials::size_of(size_bytes);
    way.least_bytes = std::max({way.least_bytes, size.first, least_timed});
    way.end_bytes = std::min(way.end_bytes, size.end);
    return !context.may_go_another_way(size_bytes) || !context.tries(call.route.key, size_bytes);
}

bool is_left_out(ExactReason reason) {
    return reason == ExactReason::does_not_pay || reason == ExactReason::no_lossy_level;
}

/// Learns that a call passes on a communicator that is not attached.
void learn_that_it_passes(const Call& call) {
    AttachAccount* const account = seen_comm(call.arguments.comm).account;
    if (account == nullptr || call.pass_reason != account->pass_reason()) return;
    if (!call.shape.is_lasting) return;
    const Settings& settings = process_settings();
    learn_kind(call.arguments, {.item_bytes = call.shape.item_bytes(),
                                .end_bytes = std::min(settings.tree_min_bytes,
                                                      least_lossy_bytes(settings, call.shape))});
}

}  // namespace

void cache_call(const Call& call) {
    if (!may_be_repeated(call)) return;
    if (call.context == nullptr) return learn_that_it_passes(call);
    // A nonblocking call goes where a blocking one would only through the memory of one host.
    if (!call.entry->may_wait() && !call.route.goes(one_host_way())) return;
    // Other reasons to pass than the route's are found before it is asked.
    if (call.pass_reason != call.route.pass_reason) return;
    if (call.context->settings().checks_calls()) return;
    const Settings& settings = call.context->settings().current();
    if (keeps_tolerance(settings, call.shape)) return;
    Reducer reducer = call.shape.reducer;
    if (is_same_anywhere(settings, call.shape)) {
        reducer = reducer_at_once(*call.context, call.route, call.shape);
        if (!reducer) return;
    }
    if (call.route.goes(agents_way())) return;  // until one fails
    CachedCall way;
    way.datatype = call.arguments.datatype;
    way.op = call.arguments.op;
    way.pass_reason = call.pass_reason;
    way.way = &call.context->way(*call.route.way);
    way.shape = call.shape;
    way.shape.reducer = reducer;
    way.key = call.route.key;
    if (is_left_out(call.route.exact_reason)) {
        if (!set_size(way, call.context->settings().current(), call)) return;
    } else {
        set_bounds(way, *call.context, call.shape);
    }
    if (!set_tried(way, *call.context, call)) return;
    const std::uint64_t size_bytes = call.shape.size_bytes();
    if (size_bytes >= way.least_bytes && size_bytes < way.end_bytes)
        call.context->call_cache().learn(way);
}

}  // namespace gradcoll
