// Ordinary memory is host memory in every build and on every machine.
#include "memory/space.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace gradcoll {
namespace {

TEST(SpaceOf, NullStackHeapStaticAndWildPointersAreHost) {
    static int in_static = 0;
    int on_stack = 0;
    const std::vector<int> on_heap(10);
    EXPECT_EQ(space_of(nullptr), MemorySpace::host);
    EXPECT_EQ(space_of(&on_stack), MemorySpace::host);
    EXPECT_EQ(space_of(on_heap.data()), MemorySpace::host);
    EXPECT_EQ(space_of(&in_static), MemorySpace::host);
    EXPECT_EQ(space_of(reinterpret_cast<const void*>(std::uintptr_t{0x10})), MemorySpace::host);
}

TEST(SpaceOf, ManyThreadsMayAskFirst) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([t] { EXPECT_EQ(space_of(&t), MemorySpace::host); });
    for (auto& thread : threads) thread.join();
}

TEST(DeviceDriver, IsNotInUseWhereTheProgramDidNotStartIt) {
    int on_stack = 0;
    EXPECT_EQ(space_of(&on_stack), MemorySpace::host);  // may load it
    EXPECT_FALSE(device_driver_in_use());
}

}  // namespace
}  // namespace gradcoll
