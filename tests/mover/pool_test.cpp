// tests/mover/pool_test.cpp - pieces of the pool in the host are where a plain first fit puts them.
#include "mover/plan/planner_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gradcoll::mover {
namespace {

constexpr std::int64_t page = 4096;

std::int64_t pages_of(const RankProgram& rank, const Move& move) {
    return divided_up(rank.tensors[static_cast<std::size_t>(move.tensor)].bytes, page) * page;
}

/// Returns the lowest offset at which move `m` overlaps no earlier move that may still be in the
/// pool when it goes: one that is needed after the operator that used `m` last.
std::int64_t first_fit(const RankProgram& rank, const std::vector<Move>& moves, std::size_t m) {
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (std::size_t other = 0; other < m; ++other)
        if (moves[other].needed_by > moves[m].after)
            taken.emplace_back(moves[other].host_offset,
                               moves[other].host_offset + pages_of(rank, moves[other]));
    std::sort(taken.begin(), taken.end());
    std::int64_t offset = 0;
    for (const auto& [begin, end] : taken) {
        if (offset + pages_of(rank, moves[m]) <= begin) break;
        offset = std::max(offset, end);
    }
    return offset;
}

TEST(Pool, EachPieceLiesWhereAPlainFirstFitPutsIt) {
    std::mt19937_64 chance(1);
    for (int round = 0; round < 200; ++round) {
        RankProgram rank;
        RankMoves moves;
        std::int32_t now = 0;
        for (std::int32_t t = 0; t < 60; ++t) {
            rank.tensors.push_back({.bytes = 1 + static_cast<std::int64_t>(chance() % 40'000)});
            now += static_cast<std::int32_t>(chance() % 10);
            const auto needed = now + 2 + static_cast<std::int32_t>(chance() % 300);
            moves.moves.push_back({.tensor = t, .after = now, .needed_by = needed});
        }
        lay_out_pool(rank, moves);
        std::int64_t most = 0;
        for (std::size_t m = 0; m < moves.moves.size(); ++m) {
            const Move& move = moves.moves[m];
            ASSERT_EQ(first_fit(rank, moves.moves, m), move.host_offset) << round << " " << m;
            most = std::max(most, move.host_offset + pages_of(rank, move));
        }
        ASSERT_EQ(most, moves.pool_bytes);
    }
}

}  // namespace
}  // namespace gradcoll::mover
