// Work that a thread's own stack has no room for.
#include "base/small_stack.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
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

}  // namespace
}  // namespace gradcoll
