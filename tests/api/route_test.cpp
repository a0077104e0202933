#include "api/route.hpp"

#include <gtest/gtest.h>

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
    EXPECT_NE(route_of(with(CodecId::exact), floats(249), {}).pass_reason, nullptr);
    EXPECT_EQ(route_of(with(CodecId::exact), floats(250), {}).pass_reason, nullptr);
}

TEST(Route, OnlySumsOfLongVectorsAreCompressed) {
    RouteQuestion not_a_sum;
    not_a_sum.sums = false;
    EXPECT_TRUE(route_of(with(CodecId::nm_2_4), floats(250), {}).key.compress);
    EXPECT_FALSE(route_of(with(CodecId::nm_2_4), floats(249), {}).key.compress);
    EXPECT_FALSE(route_of(with(CodecId::nm_2_4), floats(250), not_a_sum).key.compress);
    EXPECT_FALSE(route_of(with(CodecId::exact), floats(250), {}).key.compress);
}

TEST(Route, AResidualAlwaysTakesTheTree) {
    RouteQuestion question;
    question.feedback = true;
    EXPECT_EQ(route_of(with(CodecId::exact), floats(1), question).pass_reason, nullptr);
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

}  // namespace
}  // namespace gradcoll
