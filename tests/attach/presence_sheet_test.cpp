#include "attach/presence_sheet.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "attach/presence_answer.hpp"
#include "base/clock.hpp"

namespace gradcoll {
namespace {

constexpr std::uint64_t ms = 1'000'000;

/// Makes a job of a name that no other test has.
JobOnHost job_of(int ranks_on_host) {
    static std::atomic<std::uint64_t> number{0};
    const std::uint64_t name = (static_cast<std::uint64_t>(getpid()) << 16) + number++;
    return {name, 0, ranks_on_host, ranks_on_host};
}

std::string path_of(const JobOnHost& job) {
    char path[80];
    snprintf(path, sizeof path, "/dev/shm/gradcoll-presence2-%016llx",
             static_cast<unsigned long long>(job.name));
    return path;
}

std::unique_ptr<PresenceSheet> sheet_of(const JobOnHost& job) {
    auto sheet = PresenceSheet::open(job);
    EXPECT_TRUE(sheet.ok()) << sheet.status().message();
    return sheet ? std::move(sheet).value() : nullptr;
}

TEST(PresenceSheet, EachSeesWhatAllHaveWritten) {
    const JobOnHost job = job_of(2);
    const auto one = sheet_of(job), other = sheet_of(job);
    one->write(5, 50, "five");
    EXPECT_TRUE(std::filesystem::exists(path_of(job)));
    other->write(3, 30, std::string(5000, 'x'));
    EXPECT_FALSE(std::filesystem::exists(path_of(job)));  // nobody is missing
    for (const auto& sheet : {one.get(), other.get()}) {
        ASSERT_EQ(sheet->close(0), 2);
        EXPECT_EQ(sheet->note(0).rank, 5);
        EXPECT_EQ(sheet->note(0).text, "five");
        EXPECT_EQ(sheet->note(1).hash, 30U);
        EXPECT_EQ(sheet->note(1).text.substr(0, 3), "xxx");
    }
}

TEST(PresenceSheet, WhoComesAfterItWasClosedDoesNotCountAnywhere) {
    const JobOnHost job = job_of(3);
    const auto one = sheet_of(job), late = sheet_of(job);
    one->write(0, 1, "");
    const std::uint64_t begin_ns = now_ns();
    EXPECT_EQ(one->close(20 * ms), 1);
    EXPECT_GE(now_ns() - begin_ns, 20 * ms);
    EXPECT_FALSE(std::filesystem::exists(path_of(job)));
    late->write(1, 1, "");
    EXPECT_EQ(late->close(0), 1);
    EXPECT_EQ(one->close(0), 1);
}

TEST(PresenceSheet, AllGetOneAnswerHoweverTheyRace) {
    for (int round = 0; round < 200; ++round) {
        constexpr int count = 4;
        const JobOnHost job = job_of(count);
        std::vector<std::unique_ptr<PresenceSheet>> sheets;
        for (int rank = 0; rank < count; ++rank) sheets.push_back(sheet_of(job));
        std::vector<int> closed(count);
        std::vector<std::thread> ranks;
        for (int rank = 0; rank < count; ++rank)
            ranks.emplace_back([&, rank] {
                PresenceSheet& sheet = *sheets[static_cast<std::size_t>(rank)];
                sheet.write(rank, 7, "");
                closed[static_cast<std::size_t>(rank)] = sheet.close(rank % 2 == 0 ? 0 : 2 * ms);
            });
        for (std::thread& rank : ranks) rank.join();
        for (const int seen : closed) EXPECT_EQ(seen, closed[0]);
    }
}

TEST(PresenceSheet, WhatOthersLaidInItsPlaceIsRefused) {
    const JobOnHost job = job_of(1);
    std::filesystem::create_symlink("/dev/null", path_of(job));
    EXPECT_FALSE(PresenceSheet::open(job).ok());
    std::filesystem::remove(path_of(job));
    std::ofstream(path_of(job)) << "";
    chmod(path_of(job).c_str(), 0666);
    EXPECT_FALSE(PresenceSheet::open(job).ok());
    std::filesystem::remove(path_of(job));
    ASSERT_EQ(mkfifo(path_of(job).c_str(), 0600), 0);
    EXPECT_FALSE(PresenceSheet::open(job).ok());
    std::filesystem::remove(path_of(job));
}

TEST(PresenceAnswer, WhatIsOffSaysNothingElse) {
    EXPECT_EQ(presence_answer(false).claims.size(), 2U);
    EXPECT_NE(presence_answer(false).hash, presence_answer(true).hash);
    EXPECT_NE(presence_answer(false).text.find("GC_ENABLE: off\n"), std::string::npos);
}

TEST(PresenceAnswer, DifferencesAreNamedAndDefaultsFilledIn) {
    EXPECT_EQ(difference_of(0, "gc_codec: 2:4\n", 3, ""),
              "gc_codec must be the same on all ranks: rank 0 has '2:4', rank 3 has 'exact'");
    EXPECT_EQ(difference_of(1, "", 2, "GC_ENABLE: off\n"),
              "GC_ENABLE must be the same on all ranks: rank 1 has 'on', rank 2 has 'off'");
    EXPECT_EQ(
        difference_of(1, "gc_check: local\ngc_codec: 1:4\n", 2, "gc_check: local\ngc_codec: 2:4"),
        "gc_codec must be the same on all ranks: rank 1 has '1:4', rank 2 has '2:4'");
    EXPECT_EQ(difference_of(1, "a=1", 2, "a=1"), "the settings of ranks 1 and 2 differ");
    EXPECT_FALSE(difference_of(1, "=\n\n=x", 2, "x").empty());
}

/// A Visitor is a process at meetings of all on the sheet: a thread with a mapping of its own.
struct Visitor {
    std::unique_ptr<PresenceSheet> sheet;
    std::uint64_t met = 0;
};

/// Runs `visit(visitor, number)` on a thread for each of `count` visitors, and returns them.
template <class Visit>
std::vector<Visitor> visited(int count, Visit visit) {
    const JobOnHost job = job_of(count);
    std::vector<Visitor> visitors(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        auto& sheet = visitors[static_cast<std::size_t>(i)].sheet;
        sheet = sheet_of(job);
        sheet->write(i, 0, "");
    }
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < visitors.size(); ++i)
        threads.emplace_back([&, i] { visit(visitors[i], i); });
    for (std::thread& thread : threads) thread.join();
    return visitors;
}

TEST(PresenceSheet, WhoIsThereTogetherMeets) {
    const std::vector<int> places{2, 0, 1};
    const auto visitors = visited(3, [&](Visitor& visitor, std::size_t own) {
        visitor.met = visitor.sheet->meet(places, own, 7, 10'000 * ms) ? 1 : 0;
    });
    for (const Visitor& visitor : visitors) EXPECT_EQ(visitor.met, 1U);
}

TEST(PresenceSheet, NobodyMeetsWhereOneHasAnotherKeyOrIsAway) {
    const std::vector<int> places{0, 1, 2};
    const auto visitors = visited(3, [&](Visitor& visitor, std::size_t own) {
        const std::uint64_t key = own == 1 ? 8 : 7;
        visitor.met = visitor.sheet->meet(places, own, key, 20 * ms) ? 1 : 0;
        if (own != 2 && visitor.sheet->meet(places, own, 9, 20 * ms)) ++visitor.met;
    });
    for (const Visitor& visitor : visitors) EXPECT_EQ(visitor.met, 0U);
}

/// Everyone gives up soon and comes again: a meeting is one for all, or for nobody.
TEST(PresenceSheet, AllMeetOrNobodyDoesHoweverSoonTheyGiveUp) {
    const std::vector<int> places{1, 0, 3, 2};
    std::atomic<bool> is_over{false};
    const auto visitors = visited(4, [&](Visitor& visitor, std::size_t own) {
        const std::uint64_t end_ns = now_ns() + 2'000 * ms;
        while (!is_over) {
            if (visitor.sheet->meet(places, own, visitor.met, 20'000)) ++visitor.met;
            if (now_ns() > end_ns || visitor.met >= 500) is_over = true;
        }
    });
    EXPECT_GT(visitors[0].met, 0U);
    for (const Visitor& visitor : visitors) EXPECT_EQ(visitor.met, visitors[0].met);
}

}  // namespace
}  // namespace gradcoll
