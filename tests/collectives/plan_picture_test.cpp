// tests/collectives/plan_picture_test.cpp - the picture of a plan: golden drawings, and bytes that
// agree with the plans.
#include "collectives/draw/plan_picture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <pugixml.hpp>

#include "collectives/build/planner.hpp"
#include "collectives/choose/policy.hpp"
#include "collectives/verify/verify.hpp"
#include "topology/random_tree.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

constexpr const char* two_hosts = R"({"kind": "switch", "name": "top", "children": [
  {"kind": "host", "name": "a", "bandwidth_gbytes_per_s": 0.125, "children": [{"rank": 0}, {"rank": 1}]},
  {"kind": "host", "name": "b", "bandwidth_gbytes_per_s": 0.0625,
   "children": [{"rank": 2}, {"rank": 3}, {"rank": 4}]}]})";

Tree json_tree(const char* text) {
    return std::move(tree_from_json(text, -1)).value();
}

PlanSpec decided(const Tree& tree, std::int64_t count, std::vector<CodecId> codecs = {}) {
    PlanSpec call;
    call.count_elems = count;
    PolicyOptions options;
    options.codecs = std::move(codecs);
    return decide(tree, call, options).spec;
}

PlanPicture picture_of(const Tree& tree, const PlanSpec& spec) {
    auto picture = plan_picture(tree, spec);
    EXPECT_TRUE(picture.ok()) << picture.status().message();
    return std::move(picture).value();
}

/// Compares with tests/golden/plans/NAME; GRADCOLL_BLESS=1 in the environment writes the file
/// instead.
void expect_golden(const std::string& name, const std::string& actual) {
    const std::string path = std::string(GRADCOLL_TESTS_DIR) + "/golden/plans/" + name;
    if (std::getenv("GRADCOLL_BLESS")) std::ofstream(path, std::ios::binary) << actual;
    EXPECT_EQ(actual, test::file_bytes(path)) << "golden file " << path;
}

TEST(PlanPicture, OfTwoAndThreeIsTheGoldenOne) {
    const Tree tree = json_tree(two_hosts);
    PlanSpec spec;
    spec.count_elems = 1200;
    const PlanPicture picture = picture_of(tree, spec);
    expect_golden("two_and_three.txt", text_of(picture));
    expect_golden("two_and_three.json", json_of(picture));
    expect_golden("two_and_three.dot", dot_of(picture));
}

TEST(PlanPicture, SharesShrinkByTheDegreesOnTheWayUp) {
    const Tree tree = json_tree(two_hosts);
    PlanSpec spec;
    spec.count_elems = 1200;
    const PlanPicture picture = picture_of(tree, spec);
    ASSERT_EQ(picture.ranks.size(), 5U);
    const auto elems = [&](int rank, std::size_t level) {
        std::int64_t sum = 0;
        for (const Range& r : picture.ranks[static_cast<std::size_t>(rank)].by_level[level])
            sum += r.size();
        return sum;
    };
    EXPECT_EQ(elems(0, 0), 600);
    EXPECT_EQ(elems(0, 1), 300);
    EXPECT_EQ(elems(2, 0), 400);
    EXPECT_EQ(elems(2, 1), 200);
}

TEST(PlanPicture, TheBusiestLinkIsTheOneThatTakesLongest) {
    const Tree tree = json_tree(two_hosts);
    const PlanPicture picture = picture_of(tree, decided(tree, 1 << 16));
    ASSERT_GE(picture.busiest, 0);
    const int vertex = picture.outline.entries[static_cast<std::size_t>(picture.busiest)].vertex();
    EXPECT_EQ(tree.vertex(vertex).name, "b");  // half as fast as a, and carries as much
    EXPECT_GT(picture.traffic.time_us(vertex), 0);
}

TEST(PlanPicture, WithoutBandwidthsNoLinkIsTheBusiest) {
    const Tree tree = std::move(tree_from_expression("(host(0 1) host(2-4))", -1)).value();
    const PlanPicture picture = picture_of(tree, decided(tree, 1 << 16));
    EXPECT_EQ(picture.busiest, -1);
    EXPECT_EQ(text_of(picture).find("busiest"), std::string::npos);
    EXPECT_EQ(dot_of(picture).find("busiest"), std::string::npos);
    EXPECT_EQ(json_of(picture).find("busiest"), std::string::npos);
}

/// The sum over the levels is what the verifier's count says, in both directions.
TEST(PlanPictureProperty, LevelsAddUpToTheBytesOnEveryUplink) {
    test::Random random(31);
    for (int i = 0; i < 40; ++i) {
        const Tree tree = test::random_tree(random, 12);
        if (tree.rank_count() == 1) continue;
        const PlanSpec spec =
            decided(tree, test::below(random, 40'000), {i % 2 ? CodecId::nm_2_4 : CodecId::exact});
        std::vector<Plan> plans;
        for (int rank = 0; rank < tree.rank_count(); ++rank)
            plans.push_back(std::move(make_plan(tree, spec, rank)).value());
        const auto links = bytes_on_uplinks(tree, plans);
        const auto traffic = LinkTraffic::of(tree, spec);
        ASSERT_TRUE(traffic.ok());
        for (int id = 1; id < tree.vertex_count(); ++id) {
            const LevelBytes total = traffic->total(id);
            ASSERT_EQ(total.up, static_cast<double>(links[static_cast<std::size_t>(id)].up));
            ASSERT_EQ(total.down, static_cast<double>(links[static_cast<std::size_t>(id)].down));
        }
    }
}

/// Makes hosts of 4 and 3 ranks in turn.
Tree uneven_hosts(int hosts) {
    TreeSpec top;
    top.kind = VertexKind::fabric_switch;
    int rank = 0;
    for (int h = 0; h < hosts; ++h) {
        top.children.emplace_back();
        top.children.back().kind = VertexKind::host;
        top.children.back().name = "n" + std::to_string(h);
        for (int r = 0; r < 4 - h % 2; ++r) {
            top.children.back().children.emplace_back();
            top.children.back().children.back().rank = rank++;
        }
    }
    return std::move(Tree::make(top)).value();
}

/// Links carry nearly the same, counted just below the limit and by formula just above it.
TEST(PlanPicture, TheFormulaGoesOnWhereCountingEnds) {
    const Tree small = uneven_hosts(27);
    const Tree large = uneven_hosts(28);
    ASSERT_LE(small.rank_count(), LinkTraffic::counted_ranks);
    ASSERT_GT(large.rank_count(), LinkTraffic::counted_ranks);
    for (const CodecId codec : {CodecId::exact, CodecId::nm_2_4}) {
        const auto whole = [&](const Tree& tree) {  // shares of a chunk are rounded more
            PlanSpec spec = decided(tree, 1 << 22, {codec});
            spec.chunk_elems = 0;
            return LinkTraffic::of(tree, spec);
        };
        const auto counted = whole(small);
        const auto formula = whole(large);
        ASSERT_TRUE(counted.ok() && formula.ok());
        EXPECT_TRUE(counted->counted());
        EXPECT_FALSE(formula->counted());
        for (const int vertex : {1, 2}) {  // a host and its first rank
            const auto a = counted->by_level(vertex);
            const auto b = formula->by_level(vertex);
            ASSERT_EQ(a.size(), b.size());
            for (std::size_t i = 0; i < a.size(); ++i) {
                EXPECT_EQ(a[i].level, b[i].level);
                EXPECT_NEAR(b[i].up / a[i].up, 1.0, 0.02);
                EXPECT_NEAR(b[i].down / a[i].down, 1.0, 0.02);
            }
        }
    }
}

TEST(PlanPicture, ManyRanksAreDrawnFromAFew) {
    const Tree tree = uneven_hosts(2000);
    const PlanPicture picture = picture_of(tree, decided(tree, 1 << 24));
    EXPECT_EQ(picture.ranks.size(), static_cast<std::size_t>(PlanPicture::shown_ranks));
    const std::string text = text_of(picture);
    EXPECT_NE(text.find("by formula"), std::string::npos);
    EXPECT_LT(text.size(), 40'000U);
    EXPECT_LT(dot_of(picture).size(), 60'000U);
}

/// Returns whether the table below the tree is valid XML.
bool table_of(const std::string& dot) {
    const std::size_t begin = dot.find("label=<") + 7;
    pugi::xml_document document;
    return bool(document.load_buffer(dot.data() + begin, dot.find(">>;\n") + 1 - begin));
}

TEST(PlanPicture, EveryDrawingOfARandomPlanIsWellFormed) {
    test::Random random(32);
    for (int i = 0; i < 40; ++i) {
        const Tree tree = test::random_tree(random, 24);
        const PlanPicture picture = picture_of(tree, decided(tree, test::below(random, 5000)));
        ASSERT_TRUE(table_of(dot_of(picture))) << dot_of(picture);
        const auto json = nlohmann::json::parse(json_of(picture));
        ASSERT_EQ(json["ranks"], tree.rank_count());
        ASSERT_EQ(text_of(picture).empty(), false);
        double owned = 0;
        for (const auto& rank : json["ownership"])
            for (const auto& range : rank["ranges_by_level"].empty()
                                         ? nlohmann::json::array()
                                         : rank["ranges_by_level"].back())
                owned += range[1].get<double>() - range[0].get<double>();
        if (tree.rank_count() > 1) {
            const double holders = holder_counts(tree, picture.spec.choices).front();
            ASSERT_EQ(owned, holders * json["chunk_elems"].get<double>());
        }
    }
}

TEST(PlanPicture, OneRankAndNoElementsAreTold) {
    const Tree one = Tree::flat(1);
    EXPECT_NE(text_of(picture_of(one, decided(one, 100))).find("nothing is sent"),
              std::string::npos);
    const Tree two = Tree::flat(2);
    EXPECT_NE(text_of(picture_of(two, decided(two, 0))).find("carries 0 B each way"),
              std::string::npos);
}

TEST(PlanPicture, OtherCollectivesAreRefused) {
    PlanSpec spec;
    spec.collective = Collective::allgather;
    const Tree tree = Tree::flat(2);
    EXPECT_EQ(plan_picture(tree, spec).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace gradcoll
