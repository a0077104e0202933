#include "api/interposed/gate.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>

#include "api/interposed/offer.hpp"
#include "api/observe/observe.hpp"

namespace gradcoll {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t largest_element_bytes = 8;

struct State {
    GC_Gate* gate = nullptr;
    std::uint64_t least_bytes = std::numeric_limits<std::uint64_t>::max();  ///< of a served vector
    bool starts = false;
    bool on = true;
};
std::mutex mutex;
State state;  // guarded by mutex
std::atomic<bool> on{true};

/// Bytes of the smallest vector that can take the tree under these settings.
std::uint64_t least_bytes_of(const Settings& settings) {
    return settings.ever_lossy() ? std::min(settings.tree_min_bytes, settings.min_bytes)
                                 : settings.tree_min_bytes;
}

/// The block collectives count a block; how many of them a communicator has, ranks of different
/// MPI_COMM_WORLDs could not tell alike, so that every one but the empty is offered. Requests are
/// made rarely, and their own info may lower the thresholds.
std::int64_t least_count(int call, std::uint64_t least_bytes) {
    const std::uint64_t elements =
        (least_bytes + largest_element_bytes - 1) / largest_element_bytes;
    switch (call) {
        case GC_CALL_ALLREDUCE:
        case GC_CALL_IALLREDUCE:
            return static_cast<std::int64_t>(elements);
        case GC_CALL_REDUCE_SCATTER_BLOCK:
        case GC_CALL_ALLGATHER:
            return least_bytes > 0 ? 1 : 0;
        default:
            return 0;
    }
}

std::int64_t gate_of(int call) {
    if (call == GC_CALL_START) return state.starts ? 0 : never;
    if (!state.on) return never;
    if (report_is_wanted()) return 0;  // all calls are counted
    if (!intercepted_calls().has(static_cast<GC_Intercepted>(call))) return never;
    return least_count(call, state.least_bytes);
}

void update() {
    if (state.gate == nullptr) return;
    for (int call = 0; call < GC_CALL_KINDS; ++call)
        __atomic_store_n(&state.gate->least_count[call], gate_of(call), __ATOMIC_RELAXED);
}

}  // namespace

void open_gate(GC_Gate* gate) {
    const std::uint64_t least_bytes = least_bytes_of(process_settings());
    const std::scoped_lock lock(mutex);
    state.gate = gate;
    state.least_bytes = std::min(state.least_bytes, least_bytes);
    update();
}

void widen_gate_for(const Settings& settings, bool all_sizes) {
    const std::scoped_lock lock(mutex);
    const std::uint64_t least_bytes = all_sizes ? 0 : least_bytes_of(settings);
    if (least_bytes >= state.least_bytes) return;
    state.least_bytes = least_bytes;
    update();
}

void offer_starts(bool wanted) {
    const std::scoped_lock lock(mutex);
    state.starts = wanted;
    update();
}

void set_interception(bool wanted) {
    const std::scoped_lock lock(mutex);
    state.on = wanted;
    on = wanted;
    update();
}

bool interception_is_on() {
    return on.load(std::memory_order_relaxed);
}

}  // namespace gradcoll
