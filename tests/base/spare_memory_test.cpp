// Where no address space is left, what was set aside is there.
#include "base/spare_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdio>

namespace gradcoll {
namespace {

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
