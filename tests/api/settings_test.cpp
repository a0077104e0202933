#include "api/settings.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

SettingsText defaults() {
    SettingsText text;
    for (const OptionInfo& row : option_table()) text.set(row.id, row.default_value);
    return text;
}

TEST(Settings, DefaultsAreExactWithFeedbackOn) {
    const auto settings = Settings::parse(defaults());
    ASSERT_TRUE(settings.ok()) << settings.status().message();
    EXPECT_FALSE(settings->ever_lossy());
    EXPECT_TRUE(settings->feedback);
    EXPECT_EQ(settings->min_bytes, 65536U);
    EXPECT_EQ(settings->check, CheckLevel::off);
    EXPECT_FALSE(settings->chunk_bytes.has_value());
}

TEST(Settings, LevelCodecsRepeatTheLast) {
    SettingsText text = defaults();
    text.say(OptionId::level_codecs, "exact, 2:4");
    const auto settings = Settings::parse(text);
    ASSERT_TRUE(settings.ok()) << settings.status().message();
    EXPECT_EQ(settings->codec_of(0, 0), CodecId::exact);
    EXPECT_EQ(settings->codec_of(1, 0), CodecId::nm_2_4);
    EXPECT_EQ(settings->codec_of(9, 0), CodecId::nm_2_4);
}

TEST(Settings, OfTheThreeWaysToSayTheCodecTheLastWins) {
    SettingsText text = defaults();
    text.say(OptionId::schedule, "0:2:4");
    text.say(OptionId::codec, "bf16");
    EXPECT_EQ(text[OptionId::schedule], "");
    EXPECT_EQ(Settings::parse(text)->codec_of(0, 0), CodecId::bf16);
    text.say(OptionId::level_codecs, "1:4");
    EXPECT_EQ(text[OptionId::codec], "exact");
}

TEST(Settings, CodecsThatDoNotKnowTheTypeDoNotCompressIt) {
    SettingsText text = defaults();
    text.say(OptionId::codec, "bf16");
    const auto settings = Settings::parse(text);
    EXPECT_TRUE(settings->compresses(ElementType::f32, 0));
    EXPECT_FALSE(settings->compresses(ElementType::f64, 0));
    EXPECT_FALSE(settings->compresses(ElementType::i32, 0));
}

TEST(Settings, EveryBadValueNamesItsKey) {
    const std::pair<OptionId, const char*> bad[] = {
        {OptionId::codec, "5:4"},         {OptionId::level_codecs, "exact,,2:4"},
        {OptionId::down_codec, "x"},      {OptionId::min_bytes, "-1"},
        {OptionId::tree_min_bytes, "1X"}, {OptionId::exchange, "star"},
        {OptionId::chunk_bytes, "small"}, {OptionId::chunks_in_flight, "17"},
        {OptionId::schedule, "3:2:4"},    {OptionId::feedback, "maybe"},
        {OptionId::check, "always"}};
    for (const auto& [id, value] : bad) {
        SettingsText text = defaults();
        text.set(id, value);
        const auto settings = Settings::parse(text);
        ASSERT_FALSE(settings.ok()) << value;
        EXPECT_NE(settings.status().message().find(info_of(id).info_key), std::string::npos)
            << settings.status().message();
    }
}

TEST(Settings, UnknownKeysNameTheNearest) {
    EXPECT_TRUE(option_of_key("gc_codec").ok());
    EXPECT_NE(option_of_key("gc_codek").status().message().find("gc_codec"), std::string::npos);
    EXPECT_FALSE(option_of_key("").ok());
}

}  // namespace
}  // namespace gradcoll
