// topology/rank_ledger.cpp - see rank_ledger.hpp.
#include "topology/rank_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/vertex.hpp"

namespace gradcoll {

Status RankLedger::add(int rank, std::size_t place) {
    if (rank < 0)
        return {Code::invalid_argument, fmt::format("rank {} is negative: ranks start at 0", rank)};
    if (rank_count_ >= 0 && rank >= rank_count_)
        return {Code::invalid_argument,
                fmt::format("rank {} is unknown: there are {} ranks, 0 to {}", rank, rank_count_,
                            rank_count_ - 1)};
    if (rank >= max_tree_ranks)
        return {Code::invalid_argument,
                fmt::format("rank {} is too large: at most {} ranks are allowed", rank,
                            max_tree_ranks)};
    if (contains(rank))
        return {Code::invalid_argument, fmt::format("rank {} is there twice", rank)};
    const auto slot = static_cast<std::size_t>(rank);
    if (slot >= places_.size()) places_.resize(std::max(slot + 1, 2 * places_.size()), unseen);
    places_[slot] = place;
    ++named_;
    return {};
}

bool RankLedger::contains(int rank) const {
    const auto slot = static_cast<std::size_t>(rank);
    return rank >= 0 && slot < places_.size() && places_[slot] != unseen;
}

Status RankLedger::complete() const {
    if (named_ == 0) return {Code::invalid_argument, "no rank is named"};
    const auto gap = std::find(places_.begin(), places_.end(), unseen);
    const int missing = static_cast<int>(gap - places_.begin());
    const int expected = rank_count_ >= 0 ? rank_count_ : named_;
    if (missing >= expected) return {};
    return {Code::invalid_argument,
            fmt::format("rank {} is missing: {} ranks are named, {} to {} are expected", missing,
                        named_, 0, expected - 1)};
}

}  // namespace gradcoll
