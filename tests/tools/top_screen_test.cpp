// tests/tools/gc_top_screen_test.cpp - two looks at counters become jobs, and jobs a screen.
#include <gtest/gtest.h>

#include <sstream>

#include "jobs.hpp"

namespace gradcoll::top {
namespace {

LiveReading reading(int rank, std::int64_t parent, std::uint64_t calls) {
    LiveReading made;
    made.facts = {100 + rank + parent, parent, 1000 * parent, rank, 4, "node7", "./train"};
    made.codec = "2:4";
    const auto put = [&](LiveFigure figure, std::uint64_t value) {
        made.figures[static_cast<std::size_t>(figure)] = value;
    };
    put(LiveFigure::calls, calls);
    put(LiveFigure::served, calls);
    put(LiveFigure::compressed, calls / 2);
    put(LiveFigure::bytes_in, calls << 20);
    put(LiveFigure::bytes_sent, calls << 19);
    put(LiveFigure::bytes_sent_exact, calls << 20);
    put(LiveFigure::total_ns, calls * 1'000'000 * static_cast<std::uint64_t>(rank + 1));
    put(sent_at(VertexKind::host), calls << 18);
    return made;
}

TEST(GcTop, ShowsWhatWasCountedBetweenTheLooks) {
    const auto jobs = jobs_between({reading(0, 7, 1000), reading(1, 7, 1000)},
                                   {reading(1, 7, 1200), reading(0, 7, 1200)});
    ASSERT_EQ(jobs.size(), 1U);
    EXPECT_EQ(screen_of(jobs, 2.0, 32),
              "gradcoll top: 1 job with GC_TOP on this host, last 2.0 s\n"
              "\n"
              "./train\n"
              "  2 ranks of 4 here\n"
              "    rank  calls/s  served  compr.  passed     in/s   sent/s ratio in calls    wire"
              "  codecs  codec\n"
              "     all      200     200     100       0  200 MiB  100 MiB  2.00     15 %     0 %"
              "     0 %  2:4\n"
              "       0      100     100      50       0  100 MiB   50 MiB  2.00     10 %     0 %"
              "     0 %  2:4\n"
              "       1      100     100      50       0  100 MiB   50 MiB  2.00     20 %     0 %"
              "     0 %  2:4\n"
              "  sent at  host 50 MiB/s  shared memory 50 MiB/s\n");
}

TEST(GcTop, SharesOfLinksAreOfTheRanksBelowThemTogether) {
    const auto with_links = [](int rank, std::uint64_t times) {
        LiveReading made = reading(rank, 7, 1);
        made.links = {{static_cast<std::uint64_t>(rank), VertexKind::host, 10, "", "", 0, 0},
                      {99, VertexKind::fabric_switch, 1.25, "node7", "leaf3", 0, 0}};
        made.links[0].up_bytes = times * 1'000'000'000 * static_cast<std::uint64_t>(rank);
        made.links[1].up_bytes = times * 250'000'000;
        made.links[1].down_bytes = times * 125'000'000;
        return made;
    };
    const std::string screen = screen_of(
        jobs_between({with_links(1, 1), with_links(2, 1)}, {with_links(1, 2), with_links(2, 2)}), 1,
        3);
    EXPECT_NE(screen.find("  link to host: up 20 %, down 0 % of 10 GB/s (of 2, the busiest)\n"
                          "  link node7 to switch leaf3: up 40 %, down 20 % of 1.25 GB/s\n"),
              std::string::npos)
        << screen;
}

TEST(GcTop, SaysWhoWaitsForOthersForLongAndWhoDoesNot) {
    const auto line = [](std::vector<std::uint64_t> waits_ms) {
        std::vector<LiveReading> before, after;
        for (std::size_t rank = 0; rank < waits_ms.size(); ++rank) {
            before.push_back(reading(static_cast<int>(rank), 7, 1));
            after.push_back(before.back());
            if (waits_ms[rank] > 0) after.back().waits = {{waits_ms[rank] * 1'000'000, ""}};
        }
        const std::string screen = screen_of(jobs_between(before, after), 1, 32);
        const std::size_t at = screen.find(" wait");
        if (at == std::string::npos) return std::string();
        const std::size_t begin = screen.rfind('\n', at) + 1;
        return screen.substr(begin, screen.find('\n', at) - begin);
    };
    EXPECT_EQ(line({0, 20, 999}), "") << "short waits are usual";
    EXPECT_EQ(line({5200, 0, 1100}),
              "  ranks 0, 2 wait for others, up to 5.2 s; rank 1 does not wait here");
    EXPECT_EQ(line({0, 3000, 0}),
              "  rank 1 waits for others, up to 3.0 s; ranks 0, 2 do not wait here");
    EXPECT_EQ(line({2000, 3000}),
              "  ranks 0, 1 wait for others, up to 3.0 s; so do all ranks here");
    EXPECT_EQ(line(std::vector<std::uint64_t>(11, 2000)),
              "  ranks 0, 1, 2, 3, 4, 5, 6, 7 and 3 others wait for others, up to 2.0 s; so do all "
              "ranks here");
}

TEST(GcTop, SaysForWhatRanksWait) {
    std::vector<LiveReading> readings;
    for (int rank = 0; rank < 4; ++rank) readings.push_back(reading(rank, 7, 1));
    readings[0].waits = {{2'000'000'000, "for rank 2\x1b in memory"}, {1, "for votes"}};
    readings[1].waits = {{3'000'000'000, std::string(200, 'x')}};
    readings[3].waits = {{4'000'000'000, "for rank 2\x1b in memory"}};
    const std::string screen = screen_of(jobs_between(readings, readings), 1, 32);
    EXPECT_NE(
        screen.find("  ranks 0, 1, 3 wait for others, up to 4.0 s; rank 2 does not wait here\n"
                    "    ranks 0, 3: for rank 2? in memory\n"
                    "    rank 1: xxx"),
        std::string::npos)
        << screen;
    std::istringstream lines(screen);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(GcTop, RanksOfOneLauncherAreAJobTheOldestFirst) {
    const std::vector<LiveReading> before = {reading(0, 9, 1), reading(0, 7, 1)};
    std::vector<LiveReading> after = {reading(0, 9, 3), reading(0, 7, 2), reading(1, 7, 5)};
    after[1].facts.start_unix_ns = before[1].facts.start_unix_ns;
    const auto jobs = jobs_between(before, after);
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0].ranks.size(), 1U) << "one of them has been seen once only";
    EXPECT_EQ(jobs[0].ranks[0].facts.parent_id, 7);
    EXPECT_EQ(jobs[0].ranks[0].of(LiveFigure::calls), 1);
    EXPECT_EQ(jobs[1].ranks[0].of(LiveFigure::calls), 2);
}

TEST(GcTop, ALaterProcessOfTheSameNumberIsAnotherOne) {
    auto later = reading(0, 7, 5);
    later.facts.start_unix_ns += 1;
    EXPECT_TRUE(jobs_between({reading(0, 7, 1)}, {later}).empty());
}

TEST(GcTop, OfManyRanksThoseThatWereInCallsLongestAreShown) {
    std::vector<LiveReading> before, after;
    for (int rank = 0; rank < 50; ++rank) {
        before.push_back(reading(rank, 7, 0));
        after.push_back(reading(rank, 7, 10));
    }
    const std::string screen = screen_of(jobs_between(before, after), 1.0, 3);
    for (const char* words : {"\n      49 ", "\n      47 ", "and 47 ranks that"})
        EXPECT_NE(screen.find(words), std::string::npos) << screen;
    EXPECT_EQ(screen.find("\n      46 "), std::string::npos) << screen;
}

TEST(GcTop, CommandsDoNotReachTheTerminalAsTheyAre) {
    auto before = reading(0, 7, 1);
    before.facts.command = "\x1b[2Jx\n";
    before.facts.command.append(200, 'y');
    auto after = before;
    const std::string screen = screen_of(jobs_between({before}, {after}), 1.0, 3);
    EXPECT_EQ(screen.find('\x1b'), std::string::npos);
    std::istringstream lines(screen);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

}  // namespace
}  // namespace gradcoll::top
