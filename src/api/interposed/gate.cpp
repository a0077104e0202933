#include "api/interposed/gate.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>

#include "attach/attachments.hpp"
#include "attach/offered_comm.hpp"
#include "attach/presence.hpp"
#include "base/call_kind.hpp"
#include "base/text.hpp"
#include "comm/started_calls.hpp"
#include "mpi/boundary.hpp"
#include "mpi/mpi_reach.hpp"
#include "observe/observe.hpp"
#include "settings/settings.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t always = std::numeric_limits<std::int64_t>::min();
/// This is the size of a complex number. Larger elements go through shared memory alone, whose gate
/// is open.
constexpr std::uint64_t largest_element_bytes = 16;

struct State {
    GC_Gate* gate = nullptr;
    bool starts = false;
    bool on = true;
};
std::mutex gate_mutex;
State state;  // guarded by gate_mutex
std::atomic<bool> on{true};

/// Returns the smallest count of a call that does something.
std::int64_t shortest(CallKind kind) {
    return has(kind, CallTrait::any_count) ? 0 : 1;
}

/// Returns the smallest count that is offered. Counts of the block collectives are those of a
/// block; ranks of different MPI_COMM_WORLDs could not agree on how many blocks a communicator has,
/// so every call but the empty ones is offered. Requests are made rarely, and their own info may
/// lower the thresholds. Calls that only shared memory serves are offered if allreduces of any size
/// are. Empty vectors would pass (PassReason::empty_vector).
std::int64_t least_count(CallKind kind, const ServedBytes& least) {
    const bool by_setting = gathers(kind) && !intercepted_calls().gathers_over_tree();
    const bool only_one_host = has(kind, CallTrait::only_one_host);
    if ((only_one_host || by_setting) && least.allreduce > 0) return never;
    if (only_one_host) return shortest(kind);
    if (has(kind, CallTrait::in_blocks)) return least.others > 0 ? shortest(kind) : 0;
    if (has(kind, CallTrait::sets_up)) return 0;
    const std::uint64_t elements =
        (least.allreduce + largest_element_bytes - 1) / largest_element_bytes;
    return std::max(static_cast<std::int64_t>(elements), shortest(kind));
}

/// Returns the smallest count that is offered until ranks of several hosts have met. It does not
/// depend on the settings, as these may differ between ranks.
std::int64_t gate_for_meetings(CallKind kind) {
    return has(kind, CallTrait::all_meet) ? shortest(kind) : never;
}

std::int64_t gate_for_serving(CallKind kind) {
    const auto call = static_cast<GC_Call_kind>(kind);
    if (call == GC_CALL_START) return state.starts ? 0 : never;
    if (!state.on) return never;
    const bool intercepted = intercepted_calls().has(call);
    // All calls are compared, also with those of ranks whose counts are wrong.
    if (intercepted && process_settings().check == CheckLevel::collective) return always;
    if (report_is_wanted()) return 0;  // all calls are counted
    if (!intercepted) return never;
    if (process_settings().anywhere && (has(kind, CallTrait::reduces) || gathers(kind)))
        return 1;  // none of them may pass
    if (kind == CallKind::allreduce && may_have_memory_that_mpi_refuses()) return shortest(kind);
    return least_count(kind, least_served_bytes());
}

std::int64_t gate_of(CallKind kind) {
    const std::int64_t serving = gate_for_serving(kind);
    return state.on && meetings_are_wanted() ? std::min(serving, gate_for_meetings(kind)) : serving;
}

void update() {
    if (state.gate == nullptr) return;
    for (int kind = 0; kind < call_kind_count; ++kind)
        __atomic_store_n(&state.gate->least_count[kind], gate_of(static_cast<CallKind>(kind)),
                         __ATOMIC_RELAXED);
}

std::atomic<GC_Gate*> gate_of_completions{nullptr};

/// Opens or closes the gate of completions. This happens with every request that is waited for at
/// once, and the lock of the calls orders it.
void offer_completions(bool wanted) {
    __atomic_store_n(&gate_of_completions.load()->least_count[GC_CALL_COMPLETE], wanted ? 0 : never,
                     __ATOMIC_RELAXED);
}

void lock_and_update() {
    const std::scoped_lock lock(gate_mutex);
    update();
}

}  // namespace

bool interposer_enabled() {
    const auto enabled = parse_switch(checked_options().text(OptionId::enable));
    return !enabled.ok() || *enabled;
}

const InterceptSet& intercepted_calls() {
    static const InterceptSet set = [] {
        auto parsed = InterceptSet::parse(checked_options().text(OptionId::intercept));
        return parsed ? std::move(parsed).value() : InterceptSet();
    }();
    return set;
}

void open_gate(GC_Gate* gate) {
    const std::uint64_t tree_bytes = process_settings().least_tree_bytes();
    int rank_count = 1;
    if (mpi_is_running()) PMPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    const bool by_use = rank_count > 1 && shared_memory_is_allowed();
    serve_from({by_use ? 0 : tree_bytes, tree_bytes});
    when_served_sizes_fall(lock_and_update);
    when_all_have_met(lock_and_update);
    {
        const std::scoped_lock lock(gate_mutex);
        state.gate = gate;
        update();
    }
    gate_of_completions = gate;
    when_calls_for_mpi_come_or_go(offer_completions);
}

void offer_starts(bool wanted) {
    const std::scoped_lock lock(gate_mutex);
    state.starts = wanted;
    update();
}

void set_interception(bool wanted) {
    const std::scoped_lock lock(gate_mutex);
    state.on = wanted;
    on = wanted;
    forget_seen();  // the calls that passed by themselves are looked at again
    update();
}

bool interception_is_on() {
    return on.load(std::memory_order_relaxed);
}

}  // namespace gradcoll
