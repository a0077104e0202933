// Counters in a file: what one side adds the other reads; files of others are refused.
#include "report/live_page.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.hpp"

namespace gradcoll {
namespace {

class LivePages : public testing::Test {
  protected:
    void SetUp() override {
        folder = testing::TempDir() + "gradcoll_live_" + std::to_string(getpid());
        std::filesystem::create_directory(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    std::unique_ptr<LivePage> made(std::int64_t process) const {
        LiveFacts facts{process, 77, 1234, 2, 5, "node7", "./train"};
        return std::move(LivePage::make(folder, facts)).value();
    }
    LiveReading only_one() const {
        const auto paths = live_page_paths(folder);
        EXPECT_EQ(paths.size(), 1U);
        return read_live_page(paths.at(0)).value();
    }

    std::string folder;
};

TEST_F(LivePages, WhoWaitsSaysSoAgainAndAgain) {
    const auto page = made(4711);
    EXPECT_TRUE(only_one().waits.empty());
    std::uint64_t now = now_ns();
    page->waits(0, now - 1'000'000'000, now, "for rank 3");
    page->waits(5, now - 5'000'000'000, now, std::string(300, 'x'));
    auto waits = only_one().waits;
    ASSERT_EQ(waits.size(), 2U);
    EXPECT_GE(waits[0].waits_ns, 5'000'000'000U);
    EXPECT_LT(waits[0].waits_ns, 7'000'000'000U);
    EXPECT_EQ(waits[0].what, std::string(239, 'x'));
    EXPECT_EQ(waits[1].what, "for rank 3");
    page->waits(5, 0, 0, {});
    page->waits(0, now - 5'000'000'000, now_ns() - 1'000'000'000, "for rank 3");
    EXPECT_TRUE(only_one().waits.empty()) << "one has ended, and the other said so a while ago";
}

TEST_F(LivePages, TellALineForEachWait) {
    const auto page =
        std::move(LivePage::make("", {.host = {}, .command = {}, .times_calls = true})).value();
    const auto told = [&] {
        SignalText text;
        page->tell("rank 2 ", text);
        return std::string(text.view());
    };
    EXPECT_EQ(told(), "rank 2 is in no wait that Gradcoll sees; it has made no call\n");
    page->add(CallRecord{.kind = CallKind::allreduce, .bytes = 4096});
    EXPECT_EQ(told(),
              "rank 2 is in no wait that Gradcoll sees; its last call, allreduce of 4096 "
              "bytes, was served 0.0 s ago\n");
    page->add(CallRecord{.kind = CallKind::bcast, .bytes = 8, .pass_reason = "too short"});
    EXPECT_NE(told().find("bcast of 8 bytes, passed to the MPI library 0.0 s ago"),
              std::string::npos);
    const std::uint64_t now = now_ns();
    page->waits(1, now - 12'450'000'000, now, "for rank 3: allreduce of 4.0 MiB");
    page->waits(7, now, now, "for votes");
    EXPECT_EQ(told(),
              "rank 2 waits since 12.4 s for rank 3: allreduce of 4.0 MiB\n"
              "rank 2 waits since 0.0 s for votes\n");
}

TEST_F(LivePages, HaveWhatWasCountedByAllThreads) {
    const auto page = made(4711);
    CallRecord call;
    call.bytes = 1000;
    call.lossy = true;
    call.bytes_sent = 300;
    call.bytes_sent_exact = 600;
    call.total_ns = 50;
    LinkUse use;
    use.of_this_rank[static_cast<std::size_t>(VertexKind::host)] = 200;
    use.of_this_rank[static_cast<std::size_t>(VertexKind::group)] = 100;
    use.codec = "2:4";
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 1000; ++i) {
                page->add(call);
                page->add(use);
            }
        });
    for (std::thread& thread : threads) thread.join();
    CallRecord passed;
    passed.pass_reason = "too short";
    page->add(passed);

    const LiveReading reading = only_one();
    EXPECT_EQ(reading.facts.process_id, 4711);
    EXPECT_EQ(reading.facts.parent_id, 77);
    EXPECT_EQ(reading.facts.rank, 2);
    EXPECT_EQ(reading.facts.ranks, 5);
    EXPECT_EQ(reading.facts.host, "node7");
    EXPECT_EQ(reading.facts.command, "./train");
    EXPECT_EQ(reading.codec, "2:4");
    EXPECT_EQ(reading.of(LiveFigure::calls), 4001U);
    EXPECT_EQ(reading.of(LiveFigure::served), 4000U);
    EXPECT_EQ(reading.of(LiveFigure::compressed), 4000U);
    EXPECT_EQ(reading.of(LiveFigure::passed), 1U);
    EXPECT_EQ(reading.of(LiveFigure::bytes_in), 4'000'000U);
    EXPECT_EQ(reading.of(LiveFigure::bytes_sent), 1'200'000U);
    EXPECT_EQ(reading.of(LiveFigure::bytes_sent_exact), 2'400'000U);
    EXPECT_EQ(reading.of(LiveFigure::total_ns), 200'000U);
    EXPECT_EQ(reading.of(sent_at(VertexKind::host)), 800'000U);
    EXPECT_EQ(reading.of(sent_at(VertexKind::group)), 400'000U);
    EXPECT_EQ(reading.of(sent_at(VertexKind::rank)), 0U);
}

TEST_F(LivePages, CountWhatGoesOverEachLinkAsLongAsThereIsRoom) {
    const auto page = made(1);
    LinkUse use;
    use.own_links = {{11, VertexKind::host, 25, "L3#0", "a host", 7, 5},
                     {12, VertexKind::fabric_switch, 1.25, std::string(50, 'n'), "", 3, 2}};
    page->add(use);
    use.own_links[1].gbytes_per_s = 2.5;  // as it was measured later
    page->add(use);
    auto links = only_one().links;
    ASSERT_EQ(links.size(), 2U);
    EXPECT_EQ(links[0].key, 11U);
    EXPECT_EQ(links[0].to_kind, VertexKind::host);
    EXPECT_EQ(links[0].gbytes_per_s, 25);
    EXPECT_EQ(links[0].name, "L3#0");
    EXPECT_EQ(links[0].to_name, "a host");
    EXPECT_EQ(links[0].up_bytes, 14U);
    EXPECT_EQ(links[1].gbytes_per_s, 2.5);
    EXPECT_EQ(links[1].name, std::string(31, 'n'));
    EXPECT_EQ(links[1].down_bytes, 4U);
    for (std::uint64_t key = 100; key < 200; ++key) {
        use.own_links = {{key, VertexKind::group, 1, "", "", 1, 1}};
        page->add(use);
    }
    links = only_one().links;
    ASSERT_EQ(links.size(), LivePage::most_links);
    EXPECT_EQ(links.back().up_bytes, 1U);
}

TEST_F(LivePages, AreOfTheUserAloneAndGoWithTheProcess) {
    auto page = made(1);
    const std::string path = live_page_paths(folder).at(0);
    struct stat facts {};
    ASSERT_EQ(stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600U);
    page.reset();
    EXPECT_TRUE(live_page_paths(folder).empty());
}

TEST_F(LivePages, ReplaceThatOfADeadProcessOfTheSameNumber) {
    std::ofstream(folder + "/gradcoll-top-5") << "left behind";
    const auto page = made(5);
    EXPECT_EQ(only_one().facts.process_id, 5);
}

TEST_F(LivePages, LongTextsAreCut) {
    LiveFacts facts;
    facts.process_id = 9;
    facts.host = std::string(1000, 'h');
    facts.command = std::string(5000, 'c');
    const auto page = std::move(LivePage::make(folder, facts)).value();
    LinkUse use;
    use.codec = std::string(100, 'x');
    page->add(use);
    const LiveReading reading = only_one();
    EXPECT_EQ(reading.facts.host, std::string(63, 'h'));
    EXPECT_EQ(reading.facts.command, std::string(255, 'c'));
    EXPECT_EQ(reading.codec, std::string(31, 'x'));
}

TEST_F(LivePages, WhatIsNoneIsRefused) {
    const auto page = made(3);
    const std::string good = live_page_paths(folder).at(0);
    std::string bytes(std::filesystem::file_size(good), '\0');
    std::ifstream(good, std::ios::binary)
        .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const std::string other = folder + "/other";
    const auto refuses = [&](const std::string& text) {
        std::ofstream(other, std::ios::binary | std::ios::trunc) << text;
        return read_live_page(other).status().code();
    };
    EXPECT_EQ(refuses(bytes), Code::ok);
    EXPECT_EQ(refuses(""), Code::corrupt);
    EXPECT_EQ(refuses(bytes.substr(0, bytes.size() - 1)), Code::corrupt);
    std::string later = bytes;
    later[6] = '9';
    EXPECT_EQ(refuses(later), Code::corrupt);
    std::filesystem::create_symlink(good, folder + "/link");
    EXPECT_EQ(read_live_page(folder + "/link").status().code(), Code::io);
    EXPECT_EQ(read_live_page(folder).status().code(), Code::corrupt);
    EXPECT_EQ(read_live_page(folder + "/none").status().code(), Code::io);
}

TEST_F(LivePages, AFolderThatIsNotThereIsAnError) {
    EXPECT_EQ(LivePage::make(folder + "/none", {}).status().code(), Code::io);
    EXPECT_TRUE(live_page_paths(folder + "/none").empty());
}

}  // namespace
}  // namespace gradcoll
