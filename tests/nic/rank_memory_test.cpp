// The memory of a rank as its agent reads it: what is there, and an error for what is not.
#include "nic/rank_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

namespace gradcoll {
namespace {

std::uint64_t address_of(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data);
}

RankMemory own_memory() {
    auto memory = RankMemory::of(RankMemory::of_this_process());
    EXPECT_TRUE(memory.ok());
    return memory.ok() ? std::move(memory).value() : RankMemory();
}

TEST(RankMemory, IsReadRunByRun) {
    std::vector<std::byte> data(300'000), read(150'007);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 >> 3);
    const std::array runs = {NicRun{address_of(&data[100'001]), 150'000},
                             NicRun{address_of(&data[0]), 0}, NicRun{address_of(&data[5]), 7}};
    const RankMemory memory = own_memory();
    ASSERT_TRUE(memory.is_there());
    ASSERT_TRUE(memory.read(runs, read).ok());
    EXPECT_EQ(std::memcmp(read.data(), &data[100'001], 150'000), 0);
    EXPECT_EQ(std::memcmp(&read[150'000], &data[5], 7), 0);
}

TEST(RankMemory, WhatIsNotThereIsAnError) {
    constexpr std::size_t page = 4096;
    auto* const pages = static_cast<std::byte*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages, MAP_FAILED);
    ASSERT_EQ(munmap(pages + page, page), 0);
    const RankMemory memory = own_memory();
    std::vector<std::byte> read(page);
    for (const NicRun run :
         {NicRun{address_of(pages + page), page}, NicRun{address_of(pages), page}})
        EXPECT_EQ(memory.read({&run, 1}, read).ok(), run.address == address_of(pages));
    const NicRun across{address_of(pages + page / 2), page}, beyond{~std::uint64_t{0} - page, page};
    EXPECT_EQ(memory.read({&across, 1}, read).code(), Code::io);
    EXPECT_EQ(memory.read({&beyond, 1}, read).code(), Code::io);
    munmap(pages, page);
}

/// A process hands its file over, runs on, and ends: its memory ends with it.
TEST(RankMemory, OfAProcessThatHasEndedIsAnError) {
    std::uint64_t value = 1;
    int to_parent[2] = {}, to_child[2] = {};
    ASSERT_EQ(pipe(to_parent), 0);
    ASSERT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    if (child == 0) {
        value = 2;
        const Descriptor own = RankMemory::of_this_process();
        int number = own.number();
        char word = 0;
        const bool said = write(to_parent[1], &number, sizeof number) == sizeof number;
        _exit(said && read(to_child[0], &word, 1) == 1 ? 0 : 1);
    }
    int number = -1;
    ASSERT_EQ(read(to_parent[0], &number, sizeof number), ssize_t{sizeof number});
    const std::string path = "/proc/" + std::to_string(child) + "/fd/" + std::to_string(number);
    auto memory = RankMemory::of(Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)));
    ASSERT_TRUE(memory.ok()) << memory.status().message();
    std::uint64_t seen = 0;
    const NicRun run{address_of(&value), sizeof value};
    EXPECT_TRUE(memory->read({&run, 1}, std::as_writable_bytes(std::span(&seen, 1))).ok());
    EXPECT_EQ(seen, 2U) << "the child's, not this process's";
    ASSERT_EQ(write(to_child[1], "", 1), 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(memory->read({&run, 1}, std::as_writable_bytes(std::span(&seen, 1))).code(),
              Code::io);
    for (const int end : {to_parent[0], to_parent[1], to_child[0], to_child[1]}) close(end);
}

TEST(RankMemory, IsNoOtherFile) {
    EXPECT_EQ(RankMemory::of(Descriptor()).status().code(), Code::corrupt);
    EXPECT_EQ(RankMemory::of(Descriptor(open("/dev/zero", O_RDONLY))).status().code(),
              Code::corrupt);
    EXPECT_EQ(RankMemory::of(Descriptor(memfd_create("test", 0))).status().code(), Code::corrupt);
    EXPECT_FALSE(RankMemory().is_there());
}

}  // namespace
}  // namespace gradcoll
