// comm/host_ballots.hpp - votes of ranks that share the memory of one host.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "comm/ballots.hpp"
#include "transport/peer_watch.hpp"
#include "transport/shm/waiter.hpp"

namespace gradcoll {

/// In HostBallots each rank writes its vote to a word of its own, once, and reads those of the
/// others. A process that has ended writes no more, and what it has written stays: so whoever
/// looks, at whatever time, comes to the same answer. Two words a rank take turns: nobody votes on
/// the question after the next before all have been answered this one.
class HostBallots final : public Ballots, private Awaited {
  public:
    /// A Part is what a rank has of the memory; it is zero at first.
    struct alignas(64) Part {
        Sleepers sleepers;
        std::array<SharedWord, 2> words;
    };

    /// Each rank's part is at the begin of its `bytes_a_rank` of the memory. `peers` must see all
    /// ranks.
    HostBallots(std::byte* memory, std::size_t bytes_a_rank, int rank, int rank_count,
                std::shared_ptr<PeerWatch> peers, const Waiter& waiter);

    void cast(std::uint64_t question, unsigned vote) override;
    std::optional<unsigned> answer() override;
    void rest() override;

  private:
    Part& part(int rank) const {
        return *reinterpret_cast<Part*>(memory_ + static_cast<std::size_t>(rank) * bytes_a_rank_);
    }
    SharedWord& word(int rank) const { return part(rank).words[question_ % 2]; }
    /// Returns the least value of a word with a vote on the present question.
    std::uint64_t least() const { return (question_ + 1) * (Vote::all + 1); }
    bool has_voted(int rank) const { return word(rank).load(std::memory_order_acquire) >= least(); }
    bool may_look();
    std::string awaited_of(int rank) const override;

    std::byte* memory_;
    std::size_t bytes_a_rank_;
    int rank_;
    int rank_count_;
    std::shared_ptr<PeerWatch> peers_;
    Waiter waiter_;
    std::uint64_t question_ = 0;
    std::uint32_t idle_turns_ = 0;
    std::uint64_t next_look_ns_ = 0;
};

}  // namespace gradcoll
