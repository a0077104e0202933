// topology/rank_ledger.hpp - checks that a tree names every rank exactly once, and no unknown one.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

class RankLedger {
  public:
    /// A `rank_count` < 0 stands for as many ranks as are named, without a gap.
    explicit RankLedger(int rank_count) : rank_count_(rank_count) {}

    /// Notes a rank. `place` is the caller's own note of where the rank is written. Errors:
    /// invalid_argument saying what is wrong with the rank (unknown, twice); the caller adds the
    /// position.
    Status add(int rank, std::size_t place = 0);

    bool contains(int rank) const;
    /// Returns the place that add() got for `rank`; requires contains(rank).
    std::size_t place_of(int rank) const { return places_[static_cast<std::size_t>(rank)]; }

    /// Returns ok if every expected rank was added. Errors: invalid_argument naming the first that
    /// is missing.
    Status complete() const;

  private:
    static constexpr std::size_t unseen = static_cast<std::size_t>(-1);

    int rank_count_;
    int named_ = 0;
    std::vector<std::size_t> places_;  // by rank
};

}  // namespace gradcoll
