// apps.options - the command line of train_fashion.
#include "options.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace train;

ParsedOptions parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "train_fashion");
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(TrainOptions, DefaultsRunAnExactTraining) {
    const ParsedOptions parsed = parse({});
    EXPECT_TRUE(parsed.run);
    EXPECT_EQ(parsed.options.codec, "exact");
    EXPECT_TRUE(parsed.options.uses_gradcoll());
}

TEST(TrainOptions, EveryOptionArrives) {
    const ParsedOptions parsed =
        parse({"--codec",      "2:4",  "--schedule",     "0:4:4,500:2:4",
               "--feedback",   "off",  "--level-codecs", "exact,2:4",
               "--down-codec", "bf16", "--min-bytes",    "1K",
               "--epochs",     "2",    "--steps",        "7",
               "--batch",      "64",   "--lr",           "0.1",
               "--momentum",   "0.5",  "--seed",         "9",
               "--data",       "d",    "--csv",          "c",
               "--table-row",  "t",    "--quiet",        "--check-first-step"});
    EXPECT_FALSE(parsed.options.engine);
    EXPECT_TRUE(parse({"--engine", "--codec", "int8"}).options.engine);
    ASSERT_TRUE(parsed.run) << parsed.text;
    const Options& options = parsed.options;
    EXPECT_EQ(options.codec, "2:4");
    EXPECT_EQ(options.schedule, "0:4:4,500:2:4");
    EXPECT_EQ(options.feedback, "off");
    EXPECT_EQ(options.level_codecs, "exact,2:4");
    EXPECT_EQ(options.down_codec, "bf16");
    EXPECT_EQ(options.min_bytes, "1K");
    EXPECT_EQ(options.epochs, 2U);
    EXPECT_EQ(options.steps, 7U);
    EXPECT_EQ(options.batch, 64U);
    EXPECT_FLOAT_EQ(options.rate, 0.1F);
    EXPECT_FLOAT_EQ(options.momentum, 0.5F);
    EXPECT_EQ(options.seed, 9U);
    EXPECT_EQ(options.data, "d");
    EXPECT_EQ(options.csv, "c");
    EXPECT_EQ(options.table_row, "t");
    EXPECT_TRUE(options.quiet && options.check_first_step);
}

TEST(TrainOptions, WhoSurvivesNeedsAnEngine) {
    const ParsedOptions parsed =
        parse({"--engine", "--survive", "--lose", "1,3", "--lose-at", "7"});
    ASSERT_TRUE(parsed.run) << parsed.text;
    EXPECT_TRUE(parsed.options.survive);
    EXPECT_EQ(parsed.options.lose, (std::vector<int>{1, 3}));
    EXPECT_EQ(parsed.options.lose_at, 7U);
    EXPECT_EQ(parse({"--survive"}).exit_code, 2);
    EXPECT_EQ(parse({"--engine", "--lose", "1", "--lose-at", "7"}).exit_code, 2);
    EXPECT_EQ(parse({"--engine", "--survive", "--lose", "1"}).exit_code, 2);
}

TEST(TrainOptions, BadOnesExitWithTwoAndNameTheOption) {
    const std::vector<std::vector<const char*>> bad = {
        {"--epochs", "0"},     {"--batch", "0"},    {"--steps", "-1"},   {"--lr", "fast"},
        {"--feedback", "yes"}, {"--momentum", "2"}, {"--no-such-option"}};
    for (const auto& arguments : bad) {
        const ParsedOptions parsed = parse(arguments);
        EXPECT_FALSE(parsed.run);
        EXPECT_EQ(parsed.exit_code, 2);
        EXPECT_NE(parsed.text.find(arguments[0]), std::string::npos) << parsed.text;
    }
}

TEST(TrainOptions, SettingsOfGradcollAreRefusedWithPlainMpi) {
    const ParsedOptions parsed = parse({"--codec", "mpi", "--feedback", "on"});
    EXPECT_FALSE(parsed.run);
    EXPECT_EQ(parsed.exit_code, 2);
    EXPECT_NE(parsed.text.find("--feedback"), std::string::npos);
}

TEST(TrainOptions, HelpExitsWithZero) {
    const ParsedOptions parsed = parse({"--help"});
    EXPECT_FALSE(parsed.run);
    EXPECT_EQ(parsed.exit_code, 0);
    EXPECT_NE(parsed.text.find("--codec"), std::string::npos);
}

}  // namespace
