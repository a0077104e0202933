// tests/topology/probe_cache_test.cpp - what was measured, as text and back; texts that are
// refused.
#include "topology/probe/cache.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

SwitchTree example() {
    SwitchTree tree;
    tree.switches = {{"probed0", -1, {}}, {"probed1", 0, {0.5, 1.25}}, {"probed2", 0, {}}};
    tree.hosts["b"] = {1, {1.5, 2}};
    tree.hosts["a"] = {2, {0, 0}};
    tree.hosts["\"odd\"\n\xff"] = {0, {3, 0}};
    tree.notes = {"five hosts"};
    return tree;
}

std::string refusal(const std::string& text) {
    const Result<SwitchTree> tree = switches_from_probe_cache(text);
    EXPECT_FALSE(tree.ok()) << text;
    return tree.ok() ? "" : tree.status().message();
}
/// Returns a text that is right except for one part.
std::string with(const std::string& switches, const std::string& hosts,
                 const std::string& more = "") {
    return R"({"gradcoll_probe": 1, "switches": )" + switches + R"(, "hosts": )" + hosts + more +
           "}";
}

TEST(ProbeCache, ATreeComesBackWithItsFiguresAndNotes) {
    SwitchTree tree = example();
    tree.hosts.erase("\"odd\"\n\xff");
    const Result<SwitchTree> back = switches_from_probe_cache(probe_cache_text(tree));
    ASSERT_TRUE(back.ok()) << back.status().message();
    ASSERT_EQ(back->switches.size(), 3U);
    EXPECT_EQ(back->switches[1].name, "probed1");
    EXPECT_EQ(back->switches[1].parent, 0);
    EXPECT_EQ(back->switches[1].uplink.bandwidth_gbytes_per_s, 0.5);
    EXPECT_EQ(back->switches[1].uplink.latency_us, 1.25);
    EXPECT_EQ(back->switches[2].uplink.bandwidth_gbytes_per_s, 0);
    EXPECT_EQ(back->hosts.at("b").at, 1);
    EXPECT_EQ(back->hosts.at("b").uplink.bandwidth_gbytes_per_s, 1.5);
    EXPECT_EQ(back->notes, tree.notes);
    EXPECT_FALSE(back->by_rank);
}

TEST(ProbeCache, EqualTreesGiveEqualTextsWhateverTheOrderOfHosts) {
    SwitchTree reversed = example();
    reversed.hosts.clear();
    reversed.hosts["\"odd\"\n\xff"] = {0, {3, 0}};
    reversed.hosts["a"] = {2, {0, 0}};
    reversed.hosts["b"] = {1, {1.5, 2}};
    EXPECT_EQ(probe_cache_text(reversed), probe_cache_text(example()));
}

TEST(ProbeCache, NamesThatAreNoTextStillGiveAFileThatCanBeRead) {
    const Result<SwitchTree> back = switches_from_probe_cache(probe_cache_text(example()));
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(back->hosts.size(), 3U);
}

TEST(ProbeCache, IsToldByItsKeyAlone) {
    EXPECT_TRUE(is_probe_cache(probe_cache_text(example())));
    EXPECT_TRUE(is_probe_cache("\n {\"gradcoll_probe\": 7, damaged"));
    EXPECT_FALSE(is_probe_cache(""));
    EXPECT_FALSE(is_probe_cache("gradcoll_probe"));
    EXPECT_FALSE(is_probe_cache("{\"children\": []}"));
}

TEST(ProbeCache, RefusalsNameThePlace) {
    const std::string root = R"([{"name": "r"}])";
    const std::string host = R"({"a": {"at": 0}})";
    ASSERT_TRUE(switches_from_probe_cache(with(root, host)).ok());
    const auto has = [](const std::string& text, const std::string& part) {
        EXPECT_NE(refusal(text).find(part), std::string::npos) << refusal(text);
    };
    has("", "found no JSON");
    has("[]", "no JSON object");
    has("{}", "/gradcoll_probe: found nothing, expected 1");
    has(R"({"gradcoll_probe": 2})", "/gradcoll_probe: found 2, expected 1");
    has(with("[]", host), "/switches");
    has(with(R"([{"name": 5}])", host), "/switches/0/name: found 5");
    has(with(R"([{"name": "r", "parent": 0}])", host), "/switches/0/parent");
    has(with(R"([{"name": "r"}, {"name": "s", "parent": 1}])", host),
        "/switches/1/parent: found 1, expected a switch from 0 to 0");
    has(with(R"([{"name": "r"}, {"name": "s"}])", host), "/switches/1/parent: found nothing");
    has(with(R"([{"name": "r", "latency_us": -1}])", host), "/switches/0/latency_us: found -1");
    has(with(R"([{"name": "r", "latency_us": "1"}])", host), "/switches/0/latency_us");
    has(with(root, "{}"), "/hosts");
    has(with(root, R"({"a": 3})"), "/hosts/a: found 3");
    has(with(root, R"({"a": {"at": 1}})"), "/hosts/a/at: found 1, expected a switch from 0 to 0");
    has(with(root, R"({"a": {"at": -1}})"), "/hosts/a/at");
    has(with(root, R"({"a": {"at": 99999999999999999999}})"), "/hosts/a/at");
    has(with(root, R"({"a": {"at": 0, "bandwidth_gbytes_per_s": 1e999}})"), "");
    has(with(root, host, R"(, "by_rank": 1)"), "/by_rank");
    has(with(root, host, R"(, "notes": [1])"), "/notes/0");
}

TEST(ProbeCache, HostileNestingIsRefusedNotFollowed) {
    const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
    EXPECT_NE(switches_from_probe_cache(nested).status().message().find("brackets nest 100000"),
              std::string::npos);
}

TEST(ProbeCache, AChainOfSwitchesThatIsTooDeepIsRefused) {
    std::string switches = R"([{"name": "0"})";
    for (int i = 0; i < max_tree_depth; ++i)
        switches += R"(,{"name": "x", "parent": )" + std::to_string(i) + "}";
    EXPECT_NE(refusal(with(switches + "]", R"({"a": {"at": 0}})")).find("deeper"),
              std::string::npos);
}

TEST(ProbeCache, EveryTruncationIsRefused) {
    const std::string text = probe_cache_text(example());
    for (std::size_t size = 0; size + 2 < text.size(); ++size)
        EXPECT_FALSE(switches_from_probe_cache(text.substr(0, size)).ok()) << size;
}

}  // namespace
}  // namespace gradcoll
