// What the benchmark's command line accepts and how it refuses the rest.
#include "options.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

#include "peers/peer.hpp"

namespace gradcoll::bench {
namespace {

CommandLine parse(std::initializer_list<const char*> words) {
    std::vector<std::string> text(words.begin(), words.end());
    std::vector<char*> argv{const_cast<char*>("gc_bench allreduce")};
    for (std::string& word : text) {
        argv.push_back(word.data());
    }
    return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

void expect_refused(std::initializer_list<const char*> words, const char* named) {
    const CommandLine result = parse(words);
    EXPECT_FALSE(result.run) << named;
    EXPECT_EQ(result.exit_status, 2) << named;
    EXPECT_NE(result.text.find(named), std::string::npos) << result.text;
}

TEST(BenchOptions, DefaultsAreFloatSumsOfGradientLikeDataWithoutCompression) {
    const CommandLine result = parse({});
    ASSERT_TRUE(result.run) << result.text;
    EXPECT_EQ(result.options.element->name, "float");
    EXPECT_EQ(result.options.op, "sum");
    EXPECT_EQ(result.options.data, "gradient");
    EXPECT_EQ(result.options.peer, "mpi");
    EXPECT_EQ(result.options.sync, Sync::none);
    EXPECT_EQ(result.options.codecs, std::vector<std::string>{"exact"});
    EXPECT_EQ(result.options.sizes_bytes.front(), 4u);
    EXPECT_EQ(result.options.sizes_bytes.back(), 4u << 20);
}

TEST(BenchOptions, ListsAndRepeatedSettingsAreTakenInOrder) {
    const CommandLine result =
        parse({"--codec", "exact,2:4", "--option", "a=1", "--option", "b=x=y"});
    ASSERT_TRUE(result.run) << result.text;
    EXPECT_EQ(result.options.codecs, (std::vector<std::string>{"exact", "2:4"}));
    using Settings = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(result.options.settings, (Settings{{"a", "1"}, {"b", "x=y"}}));
}

TEST(BenchOptions, IterationsShrinkWithTheSizeUnlessGiven) {
    const Options chosen = parse({}).options;
    EXPECT_EQ(chosen.iterations_for(8192), 1000);
    EXPECT_EQ(chosen.iterations_for(8193), 100);
    EXPECT_EQ(chosen.iterations_for(64u << 20), 5);
    EXPECT_EQ(chosen.warmup_for(8192), 100);
    EXPECT_EQ(chosen.batch_for(8192), 100);
    EXPECT_EQ(chosen.batch_for(64u << 20), 1);
    const Options given = parse({"-i", "7", "-x", "0", "--batch", "3"}).options;
    EXPECT_EQ(given.iterations_for(4), 7);
    EXPECT_EQ(given.warmup_for(4), 0);
    EXPECT_EQ(given.batch_for(4), 3);
}

TEST(BenchOptions, EverySyncThatHelpNamesIsTaken) {
    for (const std::string& name : sync_names()) {
        const CommandLine result = parse({"--sync", name.c_str()});
        ASSERT_TRUE(result.run) << result.text;
        EXPECT_EQ(name_of(result.options.sync), name);
    }
}

TEST(BenchOptions, HelpNamesEveryPeerThatIsThereAndWhyOthersAreNot) {
    const std::string help = parse({"--help"}).text;
    EXPECT_EQ(peer_kinds().front().name, "mpi");
    for (const PeerKind& kind : peer_kinds()) {
        EXPECT_NE(help.find(kind.name), std::string::npos) << kind.name;
    }
    for (const MissingPeer& missing : missing_peers()) {
        EXPECT_NE(help.find(missing.reason), std::string::npos) << missing.name;
        expect_refused({"--peer", missing.name.data()}, missing.reason.data());
    }
}

TEST(BenchOptions, WhatIsWrongIsNamed) {
    expect_refused({"--bogus"}, "--bogus");
    expect_refused({"-m", "5:2"}, "5:2");
    expect_refused({"-m", "1K:32G"}, "2147483647 elements");
    expect_refused({"-i", "0"}, "--iterations");
    expect_refused({"-T", "foo"}, "foo");
    expect_refused({"--op", "xor"}, "xor");
    expect_refused({"--data", "zz"}, "zz");
    expect_refused({"--data", "file:/no/such/file"}, "/no/such/file");
    expect_refused({"--option", "nothing"}, "KEY=VALUE");
    expect_refused({"--feedback", "-T", "int32"}, "--feedback");
    expect_refused({"--feedback", "--op", "max"}, "--feedback");
    expect_refused({"--sync", "luck"}, "luck");
    expect_refused({"--batch", "0"}, "--batch");
    expect_refused({"--peer", "nobody"}, "--peer nobody: must be one of mpi");
}

TEST(BenchOptions, HelpIsNoError) {
    const CommandLine result = parse({"--help"});
    EXPECT_FALSE(result.run);
    EXPECT_EQ(result.exit_status, 0);
    EXPECT_NE(result.text.find("--codec"), std::string::npos);
}

}  // namespace
}  // namespace gradcoll::bench
