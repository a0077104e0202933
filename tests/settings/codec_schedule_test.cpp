#include "settings/codec_schedule.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

std::string error_of(std::string_view text) {
    const auto schedule = CodecSchedule::parse(text);
    return schedule.ok() ? "no error" : schedule.status().message();
}

TEST(CodecSchedule, StepsChooseTheLastPhaseThatHasBegun) {
    const auto schedule = CodecSchedule::parse("0:4:4, 500:2:4 ,5000:1:4");
    ASSERT_TRUE(schedule.ok()) << schedule.status().message();
    EXPECT_EQ(schedule->codec_at(-1), CodecId::exact);
    EXPECT_EQ(schedule->codec_at(0), CodecId::exact);
    EXPECT_EQ(schedule->codec_at(499), CodecId::exact);
    EXPECT_EQ(schedule->codec_at(500), CodecId::nm_2_4);
    EXPECT_EQ(schedule->codec_at(4999), CodecId::nm_2_4);
    EXPECT_EQ(schedule->codec_at(1'000'000), CodecId::nm_1_4);
}

TEST(CodecSchedule, EmptyTextHasNoPhases) {
    ASSERT_TRUE(CodecSchedule::parse("").ok());
    EXPECT_TRUE(CodecSchedule::parse("  ")->empty());
}

TEST(CodecSchedule, BadPhasesAreNamed) {
    EXPECT_NE(error_of("1:2:4").find("must begin at step 0"), std::string::npos);
    EXPECT_NE(error_of("0:2:4,7:1:4,7:2:4").find("phase 3"), std::string::npos);
    EXPECT_NE(error_of("0:2:4,").find("phase 2"), std::string::npos);
    EXPECT_NE(error_of("0").find("step:codec"), std::string::npos);
    EXPECT_NE(error_of("x:2:4").find("step"), std::string::npos);
    EXPECT_NE(error_of("0:2:5").find("codec"), std::string::npos);
    EXPECT_NE(error_of("0:2:4,-5:1:4").find("phase 2"), std::string::npos);
}

}  // namespace
}  // namespace gradcoll
