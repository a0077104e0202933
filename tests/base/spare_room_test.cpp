// What a thread's own stack, or the address space, has no room for.
#include "base/spare_room.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <thread>

namespace gradcoll {
namespace {

constexpr std::size_t small_bytes = std::size_t{96} << 10;

void* run(void* work) {
    (*static_cast<std::function<void()>*>(work))();
    return nullptr;
}

void run_on_small_stack(std::function<void()> work) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, small_bytes), 0);
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
}

/// Uses more than the small stack has.
void use_stack() {
    volatile std::byte room[2 * small_bytes];
    for (std::size_t i = 0; i < sizeof room; i += 1024) room[i] = std::byte{1};
    EXPECT_TRUE(room[0] == std::byte{1});
}

TEST(SmallStack, WorkHasRoom) {
    bool ran = false;
    run_on_small_stack([&] {
        run_with_room_on_stack([&] {
            use_stack();
            ran = true;
        });
    });
    EXPECT_TRUE(ran);
}

TEST(SmallStack, WhatItThrowsIsThrownHere) {
    bool caught = false;
    run_on_small_stack([&] {
        try {
            run_with_room_on_stack([] { throw std::runtime_error("no"); });
        } catch (const std::runtime_error&) {
            caught = true;
        }
    });
    EXPECT_TRUE(caught);
}

TEST(SmallStack, WhereThereIsRoomNoThreadIsMade) {
    std::thread::id where;
    run_with_room_on_stack([&] { where = std::this_thread::get_id(); });
    EXPECT_EQ(where, std::this_thread::get_id());
}

std::size_t address_space_bytes() {
    std::size_t pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr) return 0;
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
    return pages * 4096;
}

bool can_take(std::size_t bytes) {
    void* const taken =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (taken == MAP_FAILED) return false;
    munmap(taken, bytes);
    return true;
}

TEST(SpareMemory, IsThereWhenNothingElseIs) {
    constexpr std::size_t wanted = std::size_t{4} << 20;
    set_spare_memory_aside();
    const std::size_t used = address_space_bytes();
    ASSERT_GT(used, 0U);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    const rlimit limit{used + (1 << 20), before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    const bool early = can_take(wanted);
    free_spare_memory();
    const bool late = can_take(wanted);
    free_spare_memory();
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_FALSE(early);
    EXPECT_TRUE(late);
}

}  // namespace
}  // namespace gradcoll
