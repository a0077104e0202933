// topology/rank_ledger.hpp - keeps book of the ranks that a tree names: each exactly once, none
// unknown, none missing.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

class RankLedger {
  public:
    /// `rank_count` < 0: as many as are named, without a gap.
    explicit RankLedger(int rank_count) : rank_count_(rank_count) {}

    /// `place` is the caller's own note of where the rank is written. Errors: invalid_argument
    /// saying what is wrong with the rank (unknown, twice); the caller adds the position.
    Status add(int rank, std::size_t place = 0);

    bool contains(int rank) const;
    /// Where add() saw `rank`; only if contains(rank).
    std::size_t place_of(int rank) const { return places_[static_cast<std::size_t>(rank)]; }

    /// Ok when every expected rank is there. Errors: invalid_argument naming the first that is
    /// missing.
    Status complete() const;

  private:
    static constexpr std::size_t unseen = static_cast<std::size_t>(-1);

    int rank_count_;
    int named_ = 0;
    std::vector<std::size_t> places_;  // by rank
};

}  // namespace gradcoll
