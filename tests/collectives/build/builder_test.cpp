// tests/collectives/build/builder_test.cpp - every builder's plans are right, flexreduce plans what
// a builder refuses, and only flexreduce's plans are predicted.
#include "collectives/build/builder.hpp"

#include "collectives/choose/policy.hpp"
#include "collectives/draw/decision_text.hpp"
#include "collectives/draw/plan_picture.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/shapes.hpp"
#include "collectives/verify/verify.hpp"

namespace gradcoll {
namespace {

using namespace testing;

/// No table has this builder.
constexpr Builder nobody{200};

/// Makes the spec that some builders require: exact, with no choice at any vertex.
void make_plain(Shape& shape) {
    shape.spec.choices = {};
    shape.spec.down_codec = CodecId::exact;
}

std::vector<Wish> wishes() {
    std::vector<Wish> all(5);
    all[1].lossy = true;
    all[2].lossy = all[2].feedback = true;
    all[3].collective = Collective::reduce_scatter_block;
    all[4].collective = Collective::allgather;
    return all;
}

/// Returns how many plans the builder made.
int accepted(Builder builder, const Wish& wish, std::uint64_t seeds) {
    int count = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE(seed);
        Shape shape = random_shape<float>(seed, wish);
        if (seed % 2 == 0) make_plain(shape);
        shape.spec.builder = builder;
        const Status made = Planner::make(shape.tree, shape.spec).status();
        if (!made.ok()) {
            EXPECT_FALSE(made.message().empty());
            EXPECT_TRUE(made.code() == Code::unsupported || made.code() == Code::invalid_argument)
                << made.message();
            continue;
        }
        ++count;
        const Status status = verify(shape.tree, plans_of(shape.tree, shape.spec));
        EXPECT_TRUE(status.ok()) << status.message();
        expect_result<float>(shape, wish.lossy);
        if (::testing::Test::HasFailure()) break;
    }
    return count;
}

TEST(BuilderTable, EveryBuildersPlansAreProvedAndGiveTheSum) {
    for (const BuilderRow* row : builder_table()) {
        SCOPED_TRACE(row->name);
        int count = 0;
        for (const Wish& wish : wishes()) count += accepted(row->number, wish, 60);
        EXPECT_GT(count, 0);
        if (row->number == Builder::flexreduce) {
            EXPECT_EQ(count, 60 * 5);
        }
    }
}

TEST(BuilderTable, NamesLeadBackToNumbers) {
    EXPECT_EQ(builder_table().front()->number, Builder::flexreduce);
    for (const BuilderRow* row : builder_table()) {
        EXPECT_EQ(*builder_from_name(row->name), row->number);
        EXPECT_EQ(name_of(row->number), row->name);
        EXPECT_FALSE(row->text.empty()) << row->name;
    }
    const Status status = builder_from_name("flexreduc\n").status();
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_NE(status.message().find("allowed: flexreduce"), std::string::npos) << status.message();
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
}

TEST(Builder, IsPartOfTheSpec) {
    PlanSpec spec;
    PlanSpec other = spec;
    other.builder = nobody;
    EXPECT_FALSE(spec == other);
    EXPECT_NE(spec.hash(), other.hash());
    const Status status = Planner::make(Tree::flat(3), other).status();
    EXPECT_NE(status.message().find("no builder of number 200"), std::string::npos);
}

/// The decision is the same as without the wish, and has the reason.
TEST(Builder, FlexreducePlansWhatTheWishedOneRefuses) {
    const Tree tree = two_level_tree({2, 3});
    PlanSpec call;
    call.count_elems = 1 << 20;
    PolicyOptions options;
    const Decision plain = decide(tree, call, options);
    EXPECT_EQ(plain.builder_refusal, "");
    EXPECT_EQ(text_of(tree, plain, shipped_tuning()).find("built by"), std::string::npos);
    options.builder = nobody;
    const Decision decision = decide(tree, call, options);
    EXPECT_TRUE(decision.spec == plain.spec);
    EXPECT_EQ(decision.predicted_us, plain.predicted_us);
    EXPECT_NE(decision.builder_refusal.find("does not make this plan"), std::string::npos);
    EXPECT_EQ(text_of(tree, decision, shipped_tuning()).find("built by flexreduce: "), 0U)
        << text_of(tree, decision, shipped_tuning());
}

TEST(Builder, OnlyFlexreducesPlansArePredicted) {
    const Tree tree = two_level_tree({2, 3});
    PlanSpec spec;
    spec.count_elems = 1 << 20;
    EXPECT_TRUE(is_predicted(spec));
    EXPECT_GT(forecast_tree(tree, shipped_tuning(), spec).total_us, 0);
    spec.builder = nobody;
    EXPECT_FALSE(is_predicted(spec));
    const Forecast forecast = forecast_tree(tree, shipped_tuning(), spec);
    EXPECT_EQ(forecast.total_us, 0);
    EXPECT_EQ(forecast.bytes_on_links,
              std::vector<double>(static_cast<std::size_t>(tree.vertex_count()), 0.0));
    EXPECT_TRUE(forecast.levels.empty());
    Decision decision;
    decision.spec = spec;
    EXPECT_NE(text_of(tree, decision, shipped_tuning()).find("not predicted"), std::string::npos);
}

TEST(Builder, TheOneThatMadeThePlanIsTold) {
    const Tree tree = two_level_tree({2, 3});
    for (const BuilderRow* row : builder_table()) {
        SCOPED_TRACE(row->name);
        PolicyOptions options;
        options.builder = row->number;
        PlanSpec call;
        call.count_elems = 1200;
        const Decision decision = decide(tree, call, options);
        const bool refused = !decision.builder_refusal.empty();
        EXPECT_EQ(decision.spec.builder, refused ? Builder::flexreduce : row->number);
        const auto picture = plan_picture(tree, decision.spec);
        ASSERT_TRUE(picture.ok()) << picture.status().message();
        const bool other = decision.spec.builder != Builder::flexreduce;
        const std::string told = "built by " + std::string(row->name);
        EXPECT_EQ(text_of(*picture).find(told) != std::string::npos, other);
        EXPECT_EQ(text_of(tree, decision, shipped_tuning()).find(told) != std::string::npos, other);
        EXPECT_TRUE(picture->traffic.counted());
        EXPECT_EQ(picture->ranks.empty(), other);
    }
}

}  // namespace
}  // namespace gradcoll
