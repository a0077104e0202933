#include "comm/host_ballots.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/clock.hpp"

namespace gradcoll {
namespace {

constexpr std::uint32_t turns_a_clock = 16;
constexpr std::uint64_t between_looks_ns = 5'000'000;

}  // namespace

HostBallots::HostBallots(std::byte* memory, std::size_t bytes_a_rank, int rank, int rank_count,
                         std::shared_ptr<PeerWatch> peers, const Waiter& waiter)
    : memory_(memory),
      bytes_a_rank_(bytes_a_rank),
      rank_(rank),
      rank_count_(rank_count),
      peers_(std::move(peers)),
      waiter_(waiter) {
    waiter_.heed(peers_.get(), this);
}

void HostBallots::cast(std::uint64_t question, unsigned vote) {
    question_ = question;
    idle_turns_ = 0;
    next_look_ns_ = 0;
    raise(word(rank_), least() + vote, part(rank_).sleepers);
}

/// Returns whether it is time for a system call about those who have not voted.
bool HostBallots::may_look() {
    if (++idle_turns_ % turns_a_clock != 0 && !peers_->has_fault()) return false;
    const std::uint64_t now = now_ns();
    const bool is_first = next_look_ns_ == 0;
    if (now < next_look_ns_) return false;
    next_look_ns_ = now + between_looks_ns;
    return !is_first || peers_->has_fault();
}

/// A rank that has died is asked for its vote once more: it may have cast it just before.
std::optional<unsigned> HostBallots::answer() {
    unsigned common = Vote::all;
    bool looks = false;
    for (int rank = 0; rank < rank_count_; ++rank) {
        if (!has_voted(rank)) {
            looks = looks || may_look();
            if (!looks || !peers_->has_died(rank)) return {};
            if (!peers_->has_fault()) peers_->look();
            if (!has_voted(rank)) {
                common &= ~Vote::goes_on;
                continue;
            }
        }
        common &= static_cast<unsigned>(word(rank).load(std::memory_order_acquire) - least());
    }
    return common;
}

std::string HostBallots::awaited_of(int rank) const {
    return fmt::format("for the vote of rank {} on a sum", peers_->in_job(rank));
}

/// Returns at once where somebody is known to be dead: the caller looks again.
void HostBallots::rest() {
    for (int rank = 0; rank < rank_count_ && !peers_->has_fault(); ++rank)
        if (!has_voted(rank) && !waiter_.wait(word(rank), least(), part(rank).sleepers, rank))
            return;
}

}  // namespace gradcoll
