// Plans of gradients: what engines write is read back, and files by hand are believed only whole.
#include "engine/gradient_plan.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

std::string plan_with(const std::string& entries) {
    return R"({"gradcoll_engine_plan": 1, "gradients": [)" + entries + "]}";
}

TEST(GradientPlan, TheFirstPatternThatMatchesCounts) {
    const auto plan = GradientPlan::parse(plan_with(R"({"name": "head", "strategy": "ps"},
                     {"name": "*.bias", "codec": "exact", "parts": 1},
                     {"name": "layer?.*", "codec": "exact,int8", "strategy": "ring", "parts": 4})"),
                                          "file");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    ASSERT_NE(plan->find("head"), nullptr);
    EXPECT_EQ(plan->find("head")->strategy, EngineStrategy::ps);
    EXPECT_TRUE(plan->find("head")->codec.empty());
    EXPECT_EQ(plan->find("layer1.bias")->codec, "exact");
    EXPECT_EQ(plan->find("layer1.bias")->parts, 1);
    EXPECT_FALSE(plan->find("layer1.bias")->strategy);
    EXPECT_EQ(plan->find("layer1.weight")->codecs.text(), "exact,int8");
    EXPECT_EQ(plan->find("layer1.weight")->parts, 4);
    EXPECT_EQ(plan->find("layer10.weight"), nullptr);
}

TEST(GradientPlan, WhatIsWrittenIsRead) {
    std::vector<PlannedGradient> rows(2);
    rows[0].name = "conv[0]";
    rows[0].strategy = "ring";
    rows[0].codec = "2:4";
    rows[0].parts = 3;
    rows[0].bytes = 4096;
    rows[0].predicted_us = 12.5;
    rows[0].measured_us = 13;
    rows[1].name = "passed";
    const auto plan =
        GradientPlan::parse(plan_text(rows, {.planned_anew = 1, .links_carry = 0.1}), "file");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    ASSERT_NE(plan->find("conv[0]"), nullptr);
    EXPECT_EQ(plan->find("conv[0]")->strategy, EngineStrategy::ring);
    EXPECT_EQ(plan->find("conv[0]")->codec, "2:4");
    EXPECT_EQ(plan->find("conv[0]")->parts, 3);
    ASSERT_NE(plan->find("passed"), nullptr);
    EXPECT_FALSE(plan->find("passed")->strategy);
}

TEST(GradientPlan, WhatIsWrongIsNamedWithItsPlace) {
    const std::pair<std::string, const char*> wrong[] = {
        {"", "no plan of an engine"},
        {"[]", "no plan of an engine"},
        {std::string(100'000, '['), "no plan of an engine"},
        {R"({"gradcoll_engine_plan": 2, "gradients": []})", "no plan of an engine"},
        {plan_with("7"), "gradients[0] is 7; allowed: an object"},
        {plan_with(R"({"codec": "int8"})"), "gradients[0] has no name"},
        {plan_with(R"({"name": "a"}, {"name": ""})"), "gradients[1]: name is"},
        {plan_with(R"({"name": "a", "strategy": "mesh"})"), "allowed: tree, ring, ps"},
        {plan_with(R"({"name": "a", "codec": "int9"})"), "codec is \"int9\""},
        {plan_with(R"({"name": "a", "parts": 0})"), "parts is 0; allowed: 1 to"},
        {plan_with(R"({"name": "a", "parts": 1.5})"), "parts is 1.5"},
        {plan_with(R"({"name": "a", "codek": "int8"})"), "has \"codek\"; allowed: name, strategy"},
    };
    for (const auto& [text, said] : wrong) {
        const auto plan = GradientPlan::parse(text, "file");
        ASSERT_FALSE(plan.ok()) << text;
        EXPECT_NE(plan.status().message().find(said), std::string::npos) << plan.status().message();
        EXPECT_EQ(plan.status().message().rfind("file: ", 0), 0U) << plan.status().message();
    }
}

}  // namespace
}  // namespace gradcoll
