// tests/collectives/build/planner_test.cpp - specs, chunks, sizes, bytes on links, golden texts.
#include "collectives/plan/plan.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "collectives/build/planner.hpp"
#include "collectives/choose/policy.hpp"
#include "collectives/plan/partition.hpp"
#include "collectives/predict/links.hpp"
#include "collectives/shapes.hpp"
#include "collectives/verify/verify.hpp"

namespace gradcoll {
namespace {

using namespace testing;

PlanSpec spec_of(std::int64_t count, std::int64_t granule = 1) {
    PlanSpec spec;
    spec.count_elems = count;
    spec.granule_elems = granule;
    return spec;
}

void expect_invalid(const Tree& tree, const PlanSpec& spec, const std::string& part_of_message,
                    int rank = 0) {
    const Result<Plan> plan = make_plan(tree, spec, rank);
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(plan.status().message().find(part_of_message), std::string::npos)
        << plan.status().message();
}

TEST(Plan, RefusesSpecsThatContradictThemselves) {
    const Tree tree = two_level_tree({2, 3});
    expect_invalid(tree, spec_of(10), "rank is 5", 5);
    expect_invalid(tree, spec_of(-1), "count_elems is -1");
    expect_invalid(tree, spec_of(std::int64_t{1} << 60), "count_elems is");
    expect_invalid(tree, spec_of(10, 0), "granule_elems is 0");
    PlanSpec spec = spec_of(100, 16);
    spec.chunk_elems = 17;
    expect_invalid(tree, spec, "chunk_elems is 17");
    spec = spec_of(100, 16);
    spec.elem_bytes = 8;
    expect_invalid(tree, spec, "elem_bytes is 8");
    spec = spec_of(100, 16);
    spec.choices = std::vector<VertexChoice>(3);
    expect_invalid(tree, spec, "choices has 3 entries");
    spec = spec_of(100, 16);
    spec.down_codec = CodecId::nm_2_4;
    expect_invalid(tree, spec, "granule_elems is 16");
    spec = spec_of(100, 512);
    spec.type = ElementType::i32;
    spec.down_codec = CodecId::nm_2_4;
    expect_invalid(tree, spec, "not defined for elements of int32");
    spec.down_codec = CodecId::exact;
    spec.feedback = true;
    expect_invalid(tree, spec, "feedback needs floating-point");
    spec = spec_of(101);
    spec.collective = Collective::allgather;
    expect_invalid(tree, spec, "multiple of the 5 ranks");
    spec = spec_of(100, 10);
    spec.collective = Collective::reduce_scatter_block;
    spec.chunk_elems = 10;
    expect_invalid(tree, spec, "a multiple of 50, a granule of each block");
}

TEST(Plan, CutsAVectorIntoChunksAndATail) {
    const Tree tree = Tree::flat(3);
    PlanSpec spec = spec_of(250, 10);
    spec.chunk_elems = 100;
    const Plan plan = make_plan(tree, spec, 1).value();
    EXPECT_EQ(plan.chunk_count, 3);
    EXPECT_EQ(plan.schedule_of(0).count_elems, 100);
    EXPECT_EQ(plan.schedule_of(1).count_elems, 100);
    EXPECT_EQ(plan.schedule_of(2).count_elems, 50);
    spec.count_elems = 200;
    EXPECT_EQ(make_plan(tree, spec, 1)->chunk_count, 2);
    EXPECT_EQ(make_plan(tree, spec, 1)->schedule_of(1).count_elems, 100);
    spec.count_elems = 0;
    EXPECT_EQ(make_plan(tree, spec, 1)->chunk_count, 0);
    EXPECT_EQ(make_plan(tree, spec, 1)->residual_elems(), 0);
}

TEST(Plan, ExactContiguousMessagesNeedNoCopies) {
    const Tree tree = two_level_tree({4, 4});
    for (const Plan& plan : plans_of(tree, spec_of(8000)))
        for (const Step& step : plan.body.steps) {
            EXPECT_NE(step.kind, StepKind::copy);
            EXPECT_FALSE(step.kind == StepKind::send && step.from.where() == Space::scratch);
        }
}

TEST(Plan, ReceivesIntoScratchWaitForNothing) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Wish wish;
        wish.lossy = seed % 2 == 0;
        const Shape shape = random_shape<float>(seed, wish);
        for (const Plan& plan : plans_of(shape.tree, shape.spec))
            for (const Step& step : plan.body.steps)
                EXPECT_FALSE(step.kind == StepKind::recv && step.to.where() == Space::scratch &&
                             step.dep_count > 0)
                    << "seed " << seed;
    }
}

TEST(Plan, InPlaceNeverTouchesTheInput) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Shape shape = random_shape<float>(seed, {});
        shape.spec.in_place = true;
        for (const Plan& plan : plans_of(shape.tree, shape.spec))
            for (const Step& step : plan.body.steps) {
                ASSERT_NE(step.from.where(), Space::input);
                ASSERT_EQ(step.from_input, 0);
            }
    }
}

TEST(Plan, HashAndEqualityFollowEveryField) {
    const PlanSpec base = spec_of(100, 16);
    std::vector<PlanSpec> others(9, base);
    others[0].collective = Collective::allgather;
    others[1].count_elems = 101;
    others[2].type = ElementType::i32;
    others[3].in_place = true;
    others[4].granule_elems = 32;
    others[5].chunk_elems = 32;
    others[6].choices = std::vector<VertexChoice>(3);
    others[7].down_codec = CodecId::bf16;
    others[8].feedback = true;
    EXPECT_EQ(base.hash(), PlanSpec(base).hash());
    for (const PlanSpec& other : others) {
        EXPECT_NE(other.hash(), base.hash());
        EXPECT_FALSE(other == base);
    }
}

/// Returns the bytes that leave each child of the vertex where sender and receiver meet, by phase
/// (up, down).
std::map<int, std::array<std::uint64_t, 2>> bytes_by_branch(const Tree& tree,
                                                            const std::vector<Plan>& plans) {
    std::map<int, std::array<std::uint64_t, 2>> bytes;
    for (const Plan& plan : plans)
        for (const Step& step : plan.body.steps) {
            if (step.kind != StepKind::send) continue;
            const auto above_peer = tree.path_up(step.peer);
            int child = tree.leaf_of(plan.rank);
            while (std::find(above_peer.begin(), above_peer.end(), tree.vertex(child).parent) ==
                   above_peer.end())
                child = tree.vertex(child).parent;
            bytes[child][step.stage % 2] += message_bytes(step, plan.body, plan.spec.elem_bytes);
        }
    return bytes;
}

TEST(Plan, EveryUplinkCarriesItsShareInEachPhase) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Wish wish;
        wish.split_at_every_vertex = true;
        Shape shape = random_shape<float>(seed, wish);
        shape.spec.dealt = false;
        shape.spec.chunk_elems = 0;
        shape.spec.count_elems = 100000 + static_cast<std::int64_t>(seed) * 977;
        const OwnershipMap map(shape.tree, shape.spec.count_elems, shape.spec.granule_elems);
        for (const auto& [child, phases] :
             bytes_by_branch(shape.tree, plans_of(shape.tree, shape.spec))) {
            const int vertex = shape.tree.vertex(child).parent;
            const auto degree = static_cast<std::int64_t>(shape.tree.children(vertex).size());
            const auto intervals = map.intervals(vertex, Range{0, map.count_elems()}).size();
            const std::int64_t slack =
                8 * shape.spec.granule_elems * static_cast<std::int64_t>(intervals) * degree;
            const std::int64_t share =
                4 * (shape.spec.count_elems - shape.spec.count_elems / degree);
            for (std::uint64_t bytes : phases)
                ASSERT_LE(std::abs(static_cast<std::int64_t>(bytes) - share), slack)
                    << "seed " << seed;
        }
    }
}

TEST(Plan, UplinkTotalsOfTwoAndThree) {
    const Tree tree = two_level_tree({2, 3});
    const auto plans = plans_of(tree, spec_of(1200));
    const auto links = bytes_on_uplinks(tree, plans);
    for (int branch : tree.children(tree.root())) {
        EXPECT_EQ(links[static_cast<std::size_t>(branch)].up, 2U * 600 * 4);
        EXPECT_EQ(links[static_cast<std::size_t>(branch)].down, 2U * 600 * 4);
    }
    EXPECT_EQ(links[static_cast<std::size_t>(tree.leaf_of(0))].up, bytes_sent(plans[0]));
}

TEST(Plan, OfOneRankAmongThousandsHasFewSteps) {
    TreeSpec root;
    int rank = 0;
    for (int rack = 0; rack < 16; ++rack) {
        TreeSpec rack_spec;
        for (int host = 0; host < 16; ++host) {
            TreeSpec host_spec;
            for (int i = 0; i < 16 - (host % 3); ++i) {
                TreeSpec leaf;
                leaf.rank = rank++;
                host_spec.children.push_back(leaf);
            }
            rack_spec.children.push_back(host_spec);
        }
        root.children.push_back(rack_spec);
    }
    const Tree tree = Tree::make(root).value();
    const Plan plan = make_plan(tree, spec_of(1 << 24, 16), 1234).value();
    EXPECT_LT(plan.body.steps.size(), 3000U);
    EXPECT_LT(plan.stage_count, 4096U);
}

std::string all_texts(const std::vector<Plan>& plans) {
    std::string text;
    for (const Plan& plan : plans) text += plan.to_text() + "\n";
    return text;
}

/// Checks that the file holds what to_text gives; GRADCOLL_UPDATE_GOLDEN=1 rewrites it.
void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(GRADCOLL_TESTS_DIR) + "/golden/schedules/" + name;
    if (std::getenv("GRADCOLL_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    std::ifstream file(path);
    std::stringstream golden;
    golden << file.rdbuf();
    EXPECT_EQ(text, golden.str()) << path;
}

TEST(PlanText, TwoAndThreeDirect) {
    const Tree tree = two_level_tree({2, 3});
    expect_golden("two_and_three.txt", all_texts(plans_of(tree, spec_of(1200))));
}

TEST(PlanText, TwoAndThreeOfEveryExchange) {
    const Tree tree = two_level_tree({2, 3});
    for (const Exchange exchange : {called("ring"), called("recursive"), Exchange::single}) {
        PlanSpec spec = spec_of(1200);
        spec.choices = std::vector<VertexChoice>(static_cast<std::size_t>(tree.vertex_count()),
                                                 {exchange, CodecId::exact});
        expect_golden("two_and_three_" + std::string(name_of(exchange)) + ".txt",
                      all_texts(plans_of(tree, spec)));
    }
}

TEST(PlanText, LossyBetweenHostsOnly) {
    const Tree tree = two_level_tree({2, 3});
    PlanSpec spec = spec_of(512 * 24, 512);
    std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()));
    choices[static_cast<std::size_t>(tree.root())].codec = CodecId::nm_2_4;
    spec.choices = choices;
    spec.down_codec = CodecId::nm_2_4;
    expect_golden("two_and_three_lossy.txt", all_texts(plans_of(tree, spec)));
}

}  // namespace
}  // namespace gradcoll
