// The scratch area: alignment, growth, failure.
#include "memory/arena.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace gradcoll {
namespace {

std::uintptr_t address(const Arena& arena) {
    return reinterpret_cast<std::uintptr_t>(arena.data());
}

TEST(Arena, IsEmptyUntilSomethingIsReserved) {
    Arena arena;
    EXPECT_EQ(arena.data(), nullptr);
    EXPECT_EQ(arena.capacity_bytes(), 0U);
    EXPECT_TRUE(arena.reserve(0).ok());
    EXPECT_EQ(arena.data(), nullptr);
}

TEST(Arena, EverySizeIsAlignedAndWritableToItsCapacity) {
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{64}, std::size_t{4097}, Arena::huge_page_bytes - 1}) {
        Arena arena;
        ASSERT_TRUE(arena.reserve(bytes).ok());
        EXPECT_GE(arena.capacity_bytes(), bytes);
        EXPECT_EQ(address(arena) % Arena::alignment_bytes, 0U);
        std::memset(arena.data(), 0x5a, arena.capacity_bytes());
    }
}

TEST(Arena, FromTwoMebibytesOnItStartsOnAHugePage) {
    Arena arena;
    ASSERT_TRUE(arena.reserve(Arena::huge_page_bytes + 1).ok());
    EXPECT_EQ(address(arena) % Arena::huge_page_bytes, 0U);
    EXPECT_EQ(arena.capacity_bytes() % Arena::huge_page_bytes, 0U);
    std::memset(arena.data(), 0x5a, arena.capacity_bytes());
}

TEST(Arena, ASmallerRequestNeitherMovesNorShrinksIt) {
    Arena arena;
    ASSERT_TRUE(arena.reserve(1000).ok());
    const auto before = std::pair(arena.data(), arena.capacity_bytes());
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, before.second})
        ASSERT_TRUE(arena.reserve(bytes).ok());
    EXPECT_EQ(std::pair(arena.data(), arena.capacity_bytes()), before);
}

TEST(Arena, GrowsByRequest) {
    Arena arena;
    for (std::size_t bytes = 1; bytes < (std::size_t{1} << 22); bytes = bytes * 3 + 1) {
        ASSERT_TRUE(arena.reserve(bytes).ok());
        ASSERT_GE(arena.capacity_bytes(), bytes);
        std::memset(arena.data(), 1, bytes);
    }
}

TEST(Arena, MoreThanCanBeAddressedIsRefusedAndLeavesItAsItWas) {
    Arena arena;
    ASSERT_TRUE(arena.reserve(100).ok());
    const auto before = std::pair(arena.data(), arena.capacity_bytes());
    const std::size_t half = static_cast<std::size_t>(PTRDIFF_MAX);
    for (const std::size_t bytes : {SIZE_MAX, half + 1, half, half - 1}) {
        const Status status = arena.reserve(bytes);
        EXPECT_EQ(status.code(), Code::out_of_memory);
        EXPECT_NE(status.message().find(std::to_string(bytes)), std::string::npos);
    }
    EXPECT_EQ(std::pair(arena.data(), arena.capacity_bytes()), before);
}

TEST(Arena, MovingHandsTheAreaOver) {
    Arena first;
    ASSERT_TRUE(first.reserve(100).ok());
    const auto* area = first.data();
    const Arena second = std::move(first);
    EXPECT_EQ(second.data(), area);
    EXPECT_EQ(first.data(),
              nullptr);  // NOLINT(bugprone-use-after-move): what is left is documented
    EXPECT_EQ(first.capacity_bytes(), 0U);
    EXPECT_TRUE(first.reserve(10).ok());
}

}  // namespace
}  // namespace gradcoll
