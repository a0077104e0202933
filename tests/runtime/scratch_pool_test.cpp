#include "runtime/scratch_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "runtime/thread_ranks.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t kib = 1024;

TEST(ScratchPool, OneAfterTheOtherShareTheLargest) {
    ScratchPool pool;
    for (const std::size_t size : {4 * kib, 64 * kib, 16 * kib}) {
        auto lease = pool.borrow(size);
        ASSERT_TRUE(lease.ok());
        std::memset(lease->data(), 1, size);
    }
    EXPECT_EQ(pool.held_bytes(), 64 * kib);
}

TEST(ScratchPool, ThoseAtTheSameTimeHaveDifferentMemory) {
    ScratchPool pool;
    auto a = pool.borrow(8 * kib);
    auto b = pool.borrow(8 * kib);
    EXPECT_GE(std::max(a->data(), b->data()) - std::min(a->data(), b->data()),
              static_cast<std::ptrdiff_t>(8 * kib));
    EXPECT_EQ(pool.held_bytes(), 16 * kib);
}

/// This holds in whatever order a large and a small one come, and whether they overlap or not.
TEST(ScratchPool, TheSameOperationsComeAgainWithoutMoreMemory) {
    ScratchPool pool;
    std::byte *large = nullptr, *small = nullptr;
    {
        auto first = pool.borrow(64 * kib);
        auto second = pool.borrow(4 * kib);
        large = first->data();
        small = second->data();
    }
    {
        auto first = pool.borrow(4 * kib);
        auto second = pool.borrow(64 * kib);
        EXPECT_EQ(first->data(), small);
        EXPECT_EQ(second->data(), large);
    }
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(pool.borrow(i % 2 == 0 ? 64 * kib : 4 * kib)->data(), i % 2 == 0 ? large : small);
    EXPECT_EQ(pool.held_bytes(), 68 * kib);
}

TEST(ScratchPool, NothingIsLentForNoBytes) {
    ScratchPool pool;
    EXPECT_EQ(pool.borrow(0)->data(), nullptr);
    EXPECT_EQ(pool.held_bytes(), 0U);
}

TEST(ScratchPool, WhatHasNotBeenWantedForLongIsFreed) {
    ScratchPool pool;
    { auto once = pool.borrow(1024 * kib); }
    const auto borrow_small = [&](std::uint64_t times) {
        for (std::uint64_t i = 0; i < times; ++i) ASSERT_TRUE(pool.borrow(4 * kib).ok());
    };
    borrow_small(ScratchPool::borrowings_kept - 1);
    EXPECT_EQ(pool.held_bytes(), 1024 * kib) << "it may be wanted again";
    borrow_small(ScratchPool::borrowings_between_looks + 1);
    EXPECT_EQ(pool.held_bytes(), 4 * kib);
}

TEST(ScratchPool, WhatIsWantedNowAndThenStays) {
    ScratchPool pool;
    const std::byte* const large = pool.borrow(1024 * kib)->data();
    for (std::uint64_t i = 0; i < 10 * ScratchPool::borrowings_kept; ++i) {
        const bool is_large = i % (ScratchPool::borrowings_kept / 2) == 0;
        auto lease = pool.borrow(is_large ? 1024 * kib : 4 * kib);
        if (is_large) {
            EXPECT_EQ(lease->data(), large);
        }
    }
}

TEST(ScratchPool, TrimFreesAllButWhatIsLent) {
    ScratchPool pool;
    { auto a = pool.borrow(64 * kib), b = pool.borrow(16 * kib); }
    auto kept = pool.borrow(16 * kib);
    pool.trim();
    EXPECT_EQ(pool.held_bytes(), 16 * kib);
    std::memset(kept->data(), 1, 16 * kib);
}

TEST(ScratchPool, TooMuchIsRefusedAndThePoolGoesOn) {
    ScratchPool pool;
    EXPECT_EQ(pool.borrow(SIZE_MAX / 2).status().code(), Code::out_of_memory);
    EXPECT_EQ(pool.held_bytes(), 0U);
    EXPECT_TRUE(pool.borrow(kib).ok());
}

TEST(ScratchPool, ThreadsNeverShareALease) {
    ScratchPool pool;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&pool, t] {
            std::mt19937 random(t);
            for (int i = 0; i < 2000; ++i) {
                const std::size_t size = 64 + random() % 4096;
                auto lease = pool.borrow(size);
                ASSERT_TRUE(lease.ok());
                std::memset(lease->data(), static_cast<int>(t), size);
                std::this_thread::yield();
                const auto is_mine = [t](std::byte b) { return b == static_cast<std::byte>(t); };
                EXPECT_TRUE(std::all_of(lease->data(), lease->data() + size, is_mine));
            }
        });
    for (std::thread& thread : threads) thread.join();
}

// ---- executors

Scenario shape_of(std::int64_t count) {
    Scenario shape = scenario("((0 1) (2 3 4))", count, CodecId::nm_2_4);
    shape.spec.chunk_elems = 4096;
    return shape;
}

/// Twenty sizes come one after another on one communicator. Rank 0 compares what executors hold
/// with pools of their own, and with one together.
TEST(ScratchPool, ExecutorsThatTakeTurnsHoldTheLargestOnly) {
    LoopbackWorld world(5);
    std::vector<std::size_t> own(5), together(5), largest(5);
    on_all_ranks(world, 5, [&](Channel& channel) {
        const auto at = static_cast<std::size_t>(channel.rank());
        const auto shared = std::make_shared<ScratchPool>();
        std::vector<std::unique_ptr<Executor>> kept;
        std::uint32_t sequence = 0;
        for (std::int64_t size = 1; size <= 20; ++size)
            for (const bool shares : {false, true}) {
                Scenario shape = shape_of(size * 1000);
                shape.options.scratch = shares ? shared : std::make_shared<ScratchPool>();
                kept.push_back(make_executor(shape, channel));
                const Outcome outcome = run_once(*kept.back(), sparse_input, sequence++);
                EXPECT_EQ(outcome.output, sum_of_all(sparse_input, 5, size * 1000));
                if (shares) continue;
                own[at] += shape.options.scratch->held_bytes();
                largest[at] = std::max(largest[at], shape.options.scratch->held_bytes());
            }
        together[at] = shared->held_bytes();
    });
    EXPECT_EQ(together, largest);
    for (std::size_t rank = 0; rank < 5; ++rank) EXPECT_LT(together[rank] * 5, own[rank]);
    std::printf("20 sizes, rank 0: %zu bytes in pools of their own, %zu in one\n", own[0],
                together[0]);
}

TEST(ScratchPool, OperationsThatOverlapDoNotShare) {
    LoopbackWorld world(5, {.delay_probability = 0.4, .seed = 3});
    on_all_ranks(world, 5, [&](Channel& channel) {
        Scenario small = shape_of(3000), large = shape_of(20'000);
        small.options.scratch = large.options.scratch = std::make_shared<ScratchPool>();
        const auto first = make_executor(large, channel);
        const auto second = make_executor(small, channel);
        for (std::uint32_t round = 0; round < 6; round += 2) {
            const Floats in = sparse_input(channel.rank(), 20'000);
            Floats long_sum(20'000), short_sum(3000);
            ASSERT_TRUE(first->start(binding_of(in, long_sum, round)).ok());
            ASSERT_TRUE(second->start(binding_of(in, short_sum, round + 1)).ok());
            Progress one = Progress::idle, two = Progress::idle;
            while (one != Progress::complete || two != Progress::complete) {
                one = *first->advance();
                two = *second->advance();
                std::this_thread::yield();
            }
            EXPECT_EQ(long_sum, sum_of_all(sparse_input, 5, 20'000));
            EXPECT_EQ(short_sum, sum_of_all(sparse_input, 5, 3000));
        }
    });
}

}  // namespace
}  // namespace gradcoll
