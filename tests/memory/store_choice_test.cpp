// tests/memory/store_choice_test.cpp - which stores are chosen, when they are tried, and what an
// interrupted trial does.
#include "memory/store_choice.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gradcoll {
namespace {

constexpr std::size_t piece_bytes = 64 << 10;

/// Costs describes a machine on which pieces cost so much.
struct Costs {
    std::uint64_t through_caches = 0;
    std::uint64_t past_caches = 0;

    std::uint64_t of(const StoreChoice::Turn& turn) const {
        return turn.streaming ? past_caches : through_caches;
    }
};
constexpr Costs one_cache{5'000, 9'000};
constexpr Costs two_caches{20'000, 6'000};

std::vector<StoreChoice::Turn> run(StoreChoice& choice, int pieces, const Costs& costs) {
    std::vector<StoreChoice::Turn> turns;
    for (int i = 0; i < pieces; ++i) {
        turns.push_back(choice.next());
        if (turns.back().timed) choice.note(turns.back(), piece_bytes, costs.of(turns.back()));
    }
    return turns;
}

TEST(StoreChoice, StaysInTheCachesWhereTheyAreFaster) {
    StoreChoice choice;
    run(choice, 10'000, one_cache);
    EXPECT_FALSE(choice.streaming());
}

TEST(StoreChoice, GoesPastThemAfterAFewPiecesWhereThatIsFaster) {
    StoreChoice choice;
    run(choice, 98, two_caches);
    EXPECT_TRUE(choice.streaming());
    run(choice, 10'000, two_caches);
    EXPECT_TRUE(choice.streaming());
}

TEST(StoreChoice, FollowsAMachineThatChanges) {
    StoreChoice choice;
    for (int times = 0; times < 3; ++times) {
        run(choice, 1'000, two_caches);
        EXPECT_TRUE(choice.streaming());
        run(choice, 1'000, one_cache);
        EXPECT_FALSE(choice.streaming());
    }
}

TEST(StoreChoice, TriesBothKindsOnThePiecesOfTheSameNumberWhateverWasFound) {
    StoreChoice here;
    StoreChoice there;
    const auto a = run(here, 3'000, one_cache);
    const auto b = run(there, 3'000, two_caches);
    int trials = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_EQ(a[i].timed, b[i].timed) << i;
        if (!a[i].timed) continue;
        EXPECT_EQ(a[i].streaming, b[i].streaming) << i;
        ++trials;
    }
    EXPECT_GT(trials, 20);
    EXPECT_LT(trials, 50);
}

TEST(StoreChoice, AFewInterruptedPiecesChangeNothing) {
    StoreChoice choice;
    int timed = 0;
    for (int i = 0; i < 20'000; ++i) {
        const StoreChoice::Turn turn = choice.next();
        if (!turn.timed) continue;
        const bool interrupted = ++timed % 5 == 0;
        choice.note(turn, piece_bytes, one_cache.of(turn) + (interrupted ? 5'000'000 : 0));
        EXPECT_FALSE(choice.streaming()) << i;
    }
}

/// Pieces of a vector may differ in size, and half a trial says nothing.
TEST(StoreChoice, ComparesTheCostOfAByte) {
    StoreChoice choice;
    for (int i = 0; i < 2'000; ++i) {
        const StoreChoice::Turn turn = choice.next();
        const std::size_t size_bytes = i % 2 == 0 ? piece_bytes : piece_bytes / 16;
        if (turn.timed)
            choice.note(turn, size_bytes, one_cache.of(turn) * size_bytes / piece_bytes);
    }
    EXPECT_FALSE(choice.streaming());
    for (int i = 0; i < 10; ++i) choice.note({.streaming = true, .timed = true}, piece_bytes, 1);
    EXPECT_FALSE(choice.streaming());
}

}  // namespace
}  // namespace gradcoll
