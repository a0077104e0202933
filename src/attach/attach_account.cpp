#include "attach/attach_account.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>

#include "base/hash.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

/// This is less than attaching takes (docs/decisions/016-attach-by-use.md says why).
constexpr std::uint64_t usual_first_price_ns = 4'000;
/// Attaching takes so long with few ranks after the first of their communicators, freeing included.
constexpr std::uint64_t real_price_ns = 12'000;
constexpr std::uint64_t highest_price_ns = 16 * usual_first_price_ns;
std::atomic<std::uint64_t> asked_price_ns{usual_first_price_ns};

/// Returns 0 with gc_reproducible: calls that are to add in one order are served from the first one
/// on.
std::uint64_t first_price_ns() {
    return process_settings().reproducible ? 0 : usual_first_price_ns;
}

struct KnownKind {
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
    KindOfCall kind;
};

/// Returns the place where this thread keeps the kind, or another kind in its place.
KnownKind& place_of(const CallArguments& arguments) {
    constexpr int bits = 4;
    thread_local std::array<KnownKind, 1 << bits> kinds;
    return kinds[slot_of(
        std::hash<MPI_Datatype>{}(arguments.datatype) + 3 * std::hash<MPI_Op>{}(arguments.op),
        bits)];
}

}  // namespace

void learn_kind(const CallArguments& arguments, const KindOfCall& kind) {
    place_of(arguments) = {arguments.datatype, arguments.op, kind};
}

const KindOfCall* known_kind(const CallArguments& arguments) {
    const KnownKind& found = place_of(arguments);
    const bool is_it = found.datatype == arguments.datatype && found.op == arguments.op;
    return is_it ? &found.kind : nullptr;
}

std::uint64_t AttachPrice::a_rank_ns() {
    return process_settings().reproducible ? 0 : asked_price_ns.load(std::memory_order_relaxed);
}

void AttachPrice::learn(int rank_count, std::uint64_t served_calls, std::uint64_t served_bytes) {
    const auto ranks = static_cast<std::uint64_t>(rank_count);
    const std::uint64_t saved_ns = AttachAccount::gain_of(served_calls, ranks, served_bytes);
    const std::uint64_t asked = a_rank_ns();
    const std::uint64_t next = saved_ns < ranks * real_price_ns ? asked * 2 : asked / 2;
    asked_price_ns.store(std::clamp(next, usual_first_price_ns, highest_price_ns),
                         std::memory_order_relaxed);
}

AttachAccount::AttachAccount(int rank_count)
    : rank_count_(static_cast<std::uint64_t>(rank_count)),
      account_{.call_ns = rank_count_ * gain_ns_a_rank,
               .gained_ns = 0,
               .price_ns = rank_count_ * first_price_ns()} {}

bool AttachAccount::add(std::uint64_t size_bytes) {
    if (has_given_up()) return false;
    account_.gained_ns += gc_gain_ns(&account_, size_bytes);
    return is_paid();
}

bool AttachAccount::add_wanted(std::uint64_t size_bytes) {
    account_.gained_ns = std::max(account_.gained_ns, rank_count_ * first_price_ns());
    return add(size_bytes);
}

}  // namespace gradcoll
