// comm/ballots.hpp - ranks vote on one question after the other, and all that live get the same
// answer, whoever dies meanwhile (docs/decisions/053-sums-that-survivors-agree-on.md).
#pragma once

#include <cstdint>
#include <optional>

namespace gradcoll {

/// A vote on a sum is a set of these.
struct Vote {
    static constexpr unsigned made = 1;  ///< this rank has the result
    static constexpr unsigned goes_on =
        2;  ///< it knows of no death, and votes on the next sum, too
    static constexpr unsigned all = made | goes_on;
};

/// Ballots ask one question at a time; every rank asks them in the same order, from 0 on. One
/// thread at a time calls.
class Ballots {
  public:
    virtual ~Ballots() = default;

    /// Gives this rank's vote on the question; the one before it must have been answered here.
    virtual void cast(std::uint64_t question, unsigned vote) = 0;
    /// Returns what all votes on that question have in common; nothing while some may still come.
    /// All ranks that get an answer get the same. Who died without a vote counts for `made`.
    virtual std::optional<unsigned> answer() = 0;
    /// Waits for votes, not for long.
    virtual void rest() = 0;
};

}  // namespace gradcoll
