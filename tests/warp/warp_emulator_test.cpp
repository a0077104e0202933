// The emulator does what a warp does, and calls an error what a GPU would punish.
#include "support/warp_emulator.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gradcoll::test {
namespace {

using Warp = EmulatedWarp;

TEST(WarpEmulator, EveryLaneReadsTheLaneItNames) {
    std::array<std::uint32_t, 32> got{};
    const std::string error = run_warp([&] {
        const unsigned lane = Warp::lane();
        got[lane] = Warp::shuffle(100 + lane, lane ^ 5);
    });
    EXPECT_EQ(error, "");
    for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(got[lane], 100 + (lane ^ 5));
}

TEST(WarpEmulator, ABallotIsOneBitALane) {
    std::array<std::uint32_t, 32> got{};
    EXPECT_EQ(run_warp([&] { got[Warp::lane()] = Warp::ballot(Warp::lane() % 3 == 0); }), "");
    for (const std::uint32_t word : got) EXPECT_EQ(word, 0x49249249u);
}

TEST(WarpEmulator, ManyMeetingsInARowDoNotMix) {
    std::array<std::uint64_t, 32> sum{};
    const std::string error = run_warp([&] {
        const unsigned lane = Warp::lane();
        for (std::uint64_t round = 0; round < 100; ++round)
            sum[lane] += Warp::shuffle(round << 32 | lane, (lane + 1) % 32);
    });
    EXPECT_EQ(error, "");
    for (unsigned lane = 0; lane < 32; ++lane)
        EXPECT_EQ(sum[lane], (std::uint64_t{4950} << 32) + 100 * ((lane + 1) % 32));
}

TEST(WarpEmulator, ALaneThatEndsWhileOthersWaitIsAnError) {
    for (const unsigned early : {0u, 7u, 31u}) {
        const std::string error = run_warp([&] {
            if (Warp::lane() != early) (void)Warp::ballot(true);
        });
        EXPECT_NE(error.find("end"), std::string::npos) << early << ": " << error;
    }
}

TEST(WarpEmulator, LanesAtDifferentOperationsAreAnError) {
    const std::string error = run_warp([&] {
        if (Warp::lane() == 3)
            (void)Warp::shuffle(1u, 0);
        else
            (void)Warp::ballot(true);
    });
    EXPECT_NE(error.find("another kind of meeting"), std::string::npos) << error;
}

TEST(WarpEmulator, LoadsAndStoresMustBeAligned) {
    alignas(16) std::byte memory[32] = {};
    EXPECT_EQ(run_warp([&] { (void)Warp::load<Words<4>>(memory); }), "");
    EXPECT_NE(run_warp([&] { (void)Warp::load<Words<4>>(memory + 8); }), "");
    EXPECT_NE(run_warp([&] { Warp::store(memory + 2, 1u); }), "");
}

TEST(WarpEmulator, RunsAgainAfterAnError) {
    EXPECT_NE(run_warp([] {
                  if (Warp::lane() == 0) (void)Warp::ballot(true);
              }),
              "");
    EXPECT_EQ(run_warp([] { (void)Warp::ballot(true); }), "");
}

}  // namespace
}  // namespace gradcoll::test
