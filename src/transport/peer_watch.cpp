#include "transport/peer_watch.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace gradcoll {
namespace {

/// A wait is slow after this time, and looks so often from then on.
constexpr std::uint64_t between_looks_ns = 5'000'000;

std::atomic<void (*)(std::uint64_t since_ns, std::uint64_t now_ns)> wait_listener{nullptr};

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

void when_waits_are_long(void (*listener)(std::uint64_t since_ns, std::uint64_t now_ns)) {
    wait_listener = listener;
}

bool SlowWait::looks(PeerWatch& peers, bool is_wait) {
    const std::uint64_t now = now_ns();
    if (since_ns_ == 0) {
        since_ns_ = now;
        next_look_ns_ = now + between_looks_ns;
    }
    if (now < next_look_ns_) return false;
    next_look_ns_ = now + between_looks_ns;
    if (!is_wait)
        told_since_ns_ = 0;
    else if (told_since_ns_ == 0)
        told_since_ns_ = now;
    if (auto* const tell = wait_listener.load(std::memory_order_relaxed); tell && is_wait)
        tell(told_since_ns_, now);
    peers.look();
    return peers.has_fault() && now > std::max(since_ns_, peers.noticed_ns()) + peers.patience_ns();
}

}  // namespace gradcoll
