#include "ways/route.hpp"
#include "ways/one_host/one_host.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gradcoll {
namespace {

CallShape floats(std::int64_t count) {
    return {count, ElementType::f32, 4, ReduceOp::sum, {}};
}

Settings with(CodecId codec) {
    Settings settings;
    settings.codec = codec;
    settings.min_bytes = 1000;
    settings.tree_min_bytes = 1000;
    return settings;
}

TEST(Route, ShortVectorsPassAndLongOnesDoNot) {
    EXPECT_EQ(route_of(with(CodecId::exact), floats(249), {}).pass_reason,
              PassReason::short_vector);
    EXPECT_EQ(route_of(with(CodecId::exact), floats(250), {}).pass_reason, PassReason::none);
}

TEST(Route, OnlySumsOfLongVectorsAreCompressed) {
    RouteQuestion not_a_sum;
    not_a_sum.sums = false;
    EXPECT_TRUE(route_of(with(CodecId::nm_2_4), floats(250), {}).key.compress);
    EXPECT_FALSE(route_of(with(CodecId::nm_2_4), floats(249), {}).key.compress);
    EXPECT_FALSE(route_of(with(CodecId::nm_2_4), floats(250), not_a_sum).key.compress);
    EXPECT_FALSE(route_of(with(CodecId::exact), floats(250), {}).key.compress);
}

TEST(Route, ExactSumsOfFloatsMayBePackedWithoutLoss) {
    Settings settings = with(CodecId::exact);
    settings.compress_if = CompressIf::pays;
    const auto zips = [&](const CallShape& shape, const RouteQuestion& question = {}) {
        return route_of(settings, shape, question).key.zips == Zips::slow_links;
    };
    EXPECT_TRUE(zips(floats(250)));
    EXPECT_FALSE(zips({250, ElementType::i32, 4, ReduceOp::sum, {}}));
    EXPECT_FALSE(zips(floats(250), {.sums = false}));
    EXPECT_FALSE(zips(floats(250), {.feedback = true}));
    settings.codec = CodecId::nm_2_4;
    EXPECT_FALSE(zips(floats(250))) << "it is compressed";
    EXPECT_TRUE(zips(floats(250), {.left_out = ExactReason::does_not_pay}));
    settings.compress_if = CompressIf::always;
    EXPECT_FALSE(zips(floats(249))) << "just what was named";
}

TEST(Route, AResidualAlwaysTakesTheTree) {
    RouteQuestion question;
    question.feedback = true;
    EXPECT_EQ(route_of(with(CodecId::exact), floats(1), question).pass_reason, PassReason::none);
}

TEST(Route, PhasesOfAScheduleHaveKeysOfTheirOwn) {
    Settings settings = with(CodecId::exact);
    settings.schedule = *CodecSchedule::parse("0:exact,10:2:4,20:1:4");
    RouteQuestion question;
    const CallKey dense = route_of(settings, floats(1000), question).key;
    question.step = 10;
    const CallKey half = route_of(settings, floats(1000), question).key;
    question.step = 19;
    EXPECT_EQ(route_of(settings, floats(1000), question).key, half);
    question.step = 20;
    EXPECT_NE(route_of(settings, floats(1000), question).key, half);
    EXPECT_NE(dense, half);
}

TEST(Route, VectorsBeyondMaxBytesAreExact) {
    Settings settings = with(CodecId::nm_2_4);
    settings.max_bytes = 2000;
    EXPECT_TRUE(route_of(settings, floats(500), {}).key.compress);
    const Route beyond = route_of(settings, floats(501), {});
    EXPECT_FALSE(beyond.key.compress);
    EXPECT_STREQ(text_of(beyond.exact_reason), "vector is longer than gc_compress_bytes");
    EXPECT_EQ(beyond.pass_reason, PassReason::none) << "long enough for the exact tree";
}

TEST(Route, CommunicatorsThatTheNamesLeaveOutAreExact) {
    RouteQuestion question;
    question.comm_may_be_lossy = false;
    const Route route = route_of(with(CodecId::nm_2_4), floats(500), question);
    EXPECT_FALSE(route.key.compress);
    EXPECT_STREQ(text_of(route.exact_reason), "GC_COMPRESS_COMMS leaves the communicator exact");
}

TEST(Route, CallsThatTheirNumbersLeaveOutAreExact) {
    Settings settings = with(CodecId::nm_2_4);
    settings.compress_calls = *CallFilter::parse("2-,!1/4");
    std::vector<bool> compressed;
    for (std::uint64_t call = 0; call < 8; ++call) {
        RouteQuestion question;
        question.call = call;
        compressed.push_back(route_of(settings, floats(500), question).key.compress);
    }
    EXPECT_EQ(compressed, (std::vector<bool>{false, false, true, true, true, false, true, true}));
}

TEST(Route, AFilteredCallThatIsShortPassesAndSaysBoth) {
    Settings settings = with(CodecId::nm_2_4);
    settings.tree_min_bytes = 1 << 20;
    settings.compress_calls = *CallFilter::parse("5-");
    const Route route = route_of(settings, floats(500), {});
    ASSERT_TRUE(route.passes());
    EXPECT_NE(std::string(text_of(route.pass_reason)).find("gc_compress_calls"), std::string::npos);
    EXPECT_NE(std::string(text_of(route.pass_reason)).find("gc_tree_min_bytes"), std::string::npos);
}

TEST(Route, OnlyCallsThatTheirNumberAloneCouldStopAreCompressible) {
    Settings settings = with(CodecId::nm_2_4);
    settings.compress_calls = *CallFilter::parse("1000-");
    settings.max_bytes = 4000;
    EXPECT_TRUE(is_compressible(settings, floats(500), {}));
    EXPECT_FALSE(is_compressible(settings, floats(1), {}));
    EXPECT_FALSE(is_compressible(settings, floats(1001), {}));
    EXPECT_FALSE(is_compressible(with(CodecId::exact), floats(500), {}));
    RouteQuestion other_comm;
    other_comm.comm_may_be_lossy = false;
    EXPECT_FALSE(is_compressible(settings, floats(500), other_comm));
    RouteQuestion maximum;
    maximum.sums = false;
    EXPECT_FALSE(is_compressible(settings, floats(500), maximum));
}

TEST(Route, EveryReasonHasWords) {
    EXPECT_EQ(text_of(PassReason::none), nullptr);
    for (int i = 1; i < static_cast<int>(PassReason::count); ++i)
        EXPECT_STRNE(text_of(static_cast<PassReason>(i)), "") << i;
    EXPECT_EQ(text_of(ExactReason::none), nullptr);
    for (int i = 1; i < static_cast<int>(ExactReason::count); ++i)
        EXPECT_STRNE(text_of(static_cast<ExactReason>(i)), "") << i;
}

TEST(Route, OneHostSharesMemoryOnlyIfItIsAllowedAsATransport) {
    const SettingsText text = SettingsText::defaults();
    Settings settings = *Settings::parse(text);
    EXPECT_TRUE(allows_one_host(text, settings));
    settings.transports = *TransportChoice::parse("mpi");
    EXPECT_FALSE(allows_one_host(text, settings));
    settings.transports = *TransportChoice::parse("mpi,shm");
    EXPECT_TRUE(allows_one_host(text, settings));
}

TEST(Route, WhoeverChoosesHowAPlanIsMadeGetsOneOnOneHostToo) {
    const SettingsText text = SettingsText::defaults();
    const Settings free = Settings::parse(text).value();
    EXPECT_TRUE(allows_one_host(text, free));
    Settings chosen = free;
    chosen.builder = Builder{200};
    EXPECT_FALSE(allows_one_host(text, chosen));
    chosen = free;
    chosen.exchange = {std::nullopt, Exchange::direct};
    EXPECT_FALSE(allows_one_host(text, chosen));
    chosen = free;
    chosen.chunk_bytes = 0;
    EXPECT_FALSE(allows_one_host(text, chosen));
}

TEST(Route, AKindOfCallThatIsAlwaysExactIsExact) {
    RouteQuestion question;
    question.always_exact = true;
    EXPECT_FALSE(route_of(with(CodecId::nm_2_4), floats(500), question).key.compress);
}

TEST(Route, AResidualGoesWithAFilteredCallToTheExactTree) {
    Settings settings = with(CodecId::nm_2_4);
    settings.compress_calls = *CallFilter::parse("5-");
    settings.tree_min_bytes = 1 << 20;
    RouteQuestion question;
    question.feedback = true;
    const Route route = route_of(settings, floats(500), question);
    EXPECT_EQ(route.pass_reason, PassReason::none);
    EXPECT_FALSE(route.key.compress);
}

}  // namespace
}  // namespace gradcoll
