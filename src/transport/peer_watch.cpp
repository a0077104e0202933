#include "transport/peer_watch.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/clock.hpp"

namespace gradcoll {
namespace {

/// A wait is slow after this time, and looks so often from then on.
constexpr std::uint64_t between_looks_ns = 5'000'000;

std::atomic<WaitListener> wait_listener{nullptr};
std::atomic<std::uint32_t> taken_places{0};  // a bit for each
static_assert(WaitPlace::count <= 32);

/// Returns whether such a failure may follow from a death. Bytes of a call that was given up may be
/// taken for damaged ones.
bool may_follow_from_death(Code code) {
    return code == Code::peer_failed || code == Code::transport || code == Code::corrupt ||
           code == Code::peer_died;
}

}  // namespace

Status PeerWatch::fault(const std::string& where) const {
    if (!has_fault()) return {};
    const std::scoped_lock lock(mutex_);
    return {
        Code::peer_died,
        text_ + (where.empty() ? "; " : "; this call waited " + where + ", and ") + what_is_left_};
}

Status PeerWatch::judged(Status failure) {
    if (!may_follow_from_death(failure.code())) return failure;
    if (!has_fault()) look();
    if (!has_fault()) return failure;
    // What the MPI library says of a death (ULFM) does not name the rank.
    const auto names_rank = [&] {
        const std::scoped_lock lock(mutex_);
        return failure.code() == Code::peer_died && failure.message().starts_with(text_);
    };
    return names_rank() ? std::move(failure) : fault();
}

bool PeerWatch::knows_of(int rank) const {
    const std::scoped_lock lock(mutex_);
    return std::find(dead_.begin(), dead_.end(), rank) != dead_.end();
}

void PeerWatch::note(const std::vector<int>& ranks, const std::string& text) {
    const std::scoped_lock lock(mutex_);
    const bool is_known = std::all_of(ranks.begin(), ranks.end(), [&](int rank) {
        return std::find(dead_.begin(), dead_.end(), rank) != dead_.end();
    });
    if (is_known) return;
    dead_.insert(dead_.end(), ranks.begin(), ranks.end());
    text_ += (text_.empty() ? "" : "; ") + text;
    if (has_fault()) return;
    dead_rank_ = ranks.front();
    noticed_ns_ = now_ns();
    has_fault_.store(true, std::memory_order_release);
}

void when_waits_are_long(WaitListener listener) {
    wait_listener = listener;
}

bool WaitPlace::take() {
    std::uint32_t taken = taken_places.load(std::memory_order_relaxed);
    while (!is_taken()) {
        const int free = std::countr_one(taken);
        if (free >= count) return false;
        if (taken_places.compare_exchange_weak(taken, taken | 1U << static_cast<unsigned>(free)))
            number_ = free;
    }
    return true;
}

void WaitPlace::leave() noexcept {
    if (const WaitListener tell = wait_listener.load(std::memory_order_relaxed); tell != nullptr)
        tell(number_, 0, 0, {});
    taken_places.fetch_and(~(1U << static_cast<unsigned>(std::exchange(number_, none))));
}

/// Tells that this waits, or that nobody does if there is no text.
void SlowWait::tell(const PeerWatch* peers, std::uint64_t now_ns, const WaitText& what) {
    if (!what) {
        told_since_ns_ = 0;
        if (place_.is_taken()) place_.leave();
        return;
    }
    if (told_since_ns_ == 0) told_since_ns_ = now_ns;
    const WaitListener listener = wait_listener.load(std::memory_order_relaxed);
    if (listener == nullptr || !place_.take()) return;
    const bool has_name = peers != nullptr && !peers->comm_name().empty();
    listener(place_.number(), told_since_ns_, now_ns,
             what() + (has_name ? ", communicator " + peers->comm_name() : std::string()));
}

bool SlowWait::looks(PeerWatch* peers, const WaitText& what) {
    const std::uint64_t now = now_ns();
    if (since_ns_ == 0) {
        since_ns_ = now;
        next_look_ns_ = now + between_looks_ns;
    }
    if (now < next_look_ns_) return false;
    next_look_ns_ = now + between_looks_ns;
    tell(peers, now, what);
    if (peers == nullptr) return false;
    peers->look();
    return peers->has_fault() &&
           now > std::max(since_ns_, peers->noticed_ns()) + peers->patience_ns();
}

}  // namespace gradcoll
