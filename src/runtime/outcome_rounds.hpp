// runtime/outcome_rounds.hpp - the last that ranks of a checked operation say to each other:
// whether one of them has failed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/failure.hpp"
#include "base/status.hpp"
#include "runtime/notices.hpp"
#include "runtime/operation.hpp"

namespace gradcoll {

/// OutcomeRounds let all ranks of an operation end alike, where otherwise only those know of a
/// failure whom messages of the plan still reach. In a round each rank tells another one what it
/// knows: first the next one, then the second next, the fourth next and so on, until all have heard
/// of all. It is used for one operation after another.
class OutcomeRounds {
  public:
    static constexpr std::size_t most_messages = 2;  ///< that are under way at a time

    OutcomeRounds(int rank, int rank_count) : rank_(rank), rank_count_(rank_count) {}

    /// Begins anew; with `needed` false there is nothing to say.
    void renew(bool needed);
    /// Does what can be done now, once all other messages of the operation have ended: fails the
    /// operation if another rank has. Returns whether there was anything. Errors: those of the
    /// lane.
    Result<bool> advance(Operation& operation);
    bool is_over() const { return distance_ >= rank_count_; }
    /// The lane has dropped what was under way. A rank that waits for nobody any more still tells
    /// others what it owes them; `again`: that did not leave either.
    void give_up(bool again);

  private:
    Status begin_round(Operation& operation);
    std::optional<Failure> understood(const Completion& done) const;
    void hear(const Completion& done, Operation& operation) const;

    int rank_;
    int rank_count_;
    int distance_ = 1;   ///< to the rank that hears of this one in this round
    int under_way_ = 0;  ///< messages of this round
    /// Said is what a rank knows, twice, each with a checksum: nobody is left to be told that it
    /// came damaged, so one copy may be.
    struct Said {
        std::array<std::byte, FailureNotice::most_bytes> notice{};
        std::uint32_t checksum = 0;
    };
    std::array<Said, 2> said_{}, heard_{};
};

}  // namespace gradcoll
