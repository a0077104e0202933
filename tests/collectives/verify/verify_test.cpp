// tests/collectives/verify/verify_test.cpp - the verifier accepts every plan that we make and no
// broken one.
#include "collectives/verify/verify.hpp"

#include <algorithm>
#include <utility>

#include "collectives/shapes.hpp"

namespace gradcoll {
namespace {

using namespace testing;

void expect_accepted(const Wish& wish, std::uint64_t seeds) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const Shape shape = random_shape<float>(seed, wish);
        const Status status = verify(shape.tree, plans_of(shape.tree, shape.spec));
        ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.message();
    }
}

TEST(Verify, AcceptsExactPlansOfRandomTreesUpTo64Ranks) {
    Wish wish;
    wish.most_ranks = 64;
    expect_accepted(wish, 300);
}

TEST(Verify, AcceptsLossyPlans) {
    Wish wish;
    wish.lossy = true;
    expect_accepted(wish, 250);
    wish.feedback = true;
    expect_accepted(wish, 150);
}

TEST(Verify, AcceptsBlockCollectives) {
    for (Collective collective : {Collective::reduce_scatter_block, Collective::allgather}) {
        Wish wish;
        wish.collective = collective;
        expect_accepted(wish, 150);
        wish.lossy = true;
        expect_accepted(wish, 80);
    }
}

TEST(Verify, AcceptsVectorsBeyond2To31Elements) {
    PlanSpec spec;
    spec.count_elems = (std::int64_t{5} << 31) + 12345;
    spec.granule_elems = 16;
    const Tree tree = two_level_tree({2, 3, 1, 4});
    EXPECT_EQ(verify(tree, plans_of(tree, spec)).message(), "");
    spec.chunk_elems = 1 << 20;
    EXPECT_EQ(verify(tree, plans_of(tree, spec)).message(), "");
}

// ---- how many encodings an element goes through

PlanSpec lossy_at(const Tree& tree, std::initializer_list<int> levels, CodecId down) {
    std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()));
    for (const int vertex : tree.inner_vertices())
        if (std::find(levels.begin(), levels.end(), tree.vertex(vertex).height - 1) != levels.end())
            choices[static_cast<std::size_t>(vertex)].codec = CodecId::nm_2_4;
    PlanSpec spec;
    spec.count_elems = 1 << 14;
    spec.granule_elems = 512;
    spec.choices = std::move(choices);
    spec.down_codec = down;
    return spec;
}

TEST(Verify, ElementsGoThroughAsManyEncodingsAsThePlanSaysAndNotFewer) {
    const Tree tree = two_level_tree({2, 3, 4});
    const struct {
        std::initializer_list<int> levels;
        CodecId down;
        std::int64_t encodings;
    } cases[] = {{{}, CodecId::exact, 0},
                 {{1}, CodecId::exact, 2},
                 {{1}, CodecId::nm_2_4, 3},
                 {{0, 1}, CodecId::exact, 8},
                 {{0, 1}, CodecId::nm_2_4, 9}};
    for (const auto& one : cases)
        for (const Exchange exchange : split_exchanges()) {
            PlanSpec spec = lossy_at(tree, one.levels, one.down);
            std::vector<VertexChoice> choices(spec.choices.begin(), spec.choices.end());
            for (VertexChoice& choice : choices) choice.exchange = exchange;
            spec.choices = std::move(choices);
            std::vector<Plan> plans = plans_of(tree, spec);
            EXPECT_EQ(plans.front().loss_parts.together, one.encodings);
            EXPECT_EQ(verify(tree, plans).message(), "");
            if (one.encodings == 0) continue;
            for (Plan& plan : plans) --plan.loss_parts.together;
            EXPECT_NE(verify(tree, plans).message().find("parts in encodings, the plan says"),
                      std::string::npos);
        }
}

TEST(Verify, CountsTheLossThatEachEncodingTakes) {
    const Tree tree = two_level_tree({2, 3, 4});
    const CodecId much = *codec_from_name("bound/abs=8call");
    PlanSpec spec = lossy_at(tree, {0, 1}, much);
    std::vector<VertexChoice> choices(spec.choices.begin(), spec.choices.end());
    for (const int vertex : tree.inner_vertices())
        choices[static_cast<std::size_t>(vertex)].codec =
            vertex == tree.root() ? much : CodecId::bound;
    spec.choices = std::move(choices);
    std::vector<Plan> plans = plans_of(tree, spec);
    EXPECT_EQ(plans.front().loss_parts, (LossParts{1 + 2 + 3 + 2 * 8 + 8, 8}));
    EXPECT_EQ(verify(tree, plans).message(), "");
    for (Plan& plan : plans) --plan.loss_parts.together;
    EXPECT_NE(verify(tree, plans).message().find("lost 30 parts in encodings, the plan says 29"),
              std::string::npos);
}

TEST(Verify, InBlockCollectivesOnlyOneWayIsEncoded) {
    const Tree tree = two_level_tree({2, 3});
    PlanSpec spec = lossy_at(tree, {0, 1}, CodecId::nm_2_4);
    spec.count_elems = 5 * 1024;
    for (const auto& [collective, encodings] :
         {std::pair{Collective::reduce_scatter_block, 4}, std::pair{Collective::allgather, 1}}) {
        spec.collective = collective;
        const std::vector<Plan> plans = plans_of(tree, spec);
        EXPECT_EQ(plans.front().loss_parts.together, encodings);
        EXPECT_EQ(verify(tree, plans).message(), "");
    }
}

/// Puts `added` behind step `index` and makes it wait for it.
void insert_after(Schedule& schedule, std::size_t index, Step added) {
    added.first_dep = static_cast<std::uint32_t>(schedule.deps.size());
    added.dep_count = 1;
    schedule.deps.push_back(static_cast<std::uint32_t>(index));
    for (Step& step : schedule.steps)
        for (std::uint32_t d = 0; d < step.dep_count; ++d)
            if (schedule.deps[step.first_dep + d] > index) ++schedule.deps[step.first_dep + d];
    schedule.steps.insert(schedule.steps.begin() + static_cast<std::ptrdiff_t>(index) + 1, added);
}

/// Broken is a call on ((0 1) (2 3 4)) that has every kind of step.
struct Broken : ::testing::Test {
    Tree tree = two_level_tree({2, 3});
    std::vector<Plan> plans;

    void make(CodecId codec, Exchange exchange = Exchange::direct) {
        PlanSpec spec;
        spec.count_elems = 12 * 512 * 5 + 100;
        spec.granule_elems = 512;
        spec.choices = std::vector<VertexChoice>(static_cast<std::size_t>(tree.vertex_count()),
                                                 {exchange, codec});
        spec.down_codec = codec;
        plans = plans_of(tree, spec);
        ASSERT_EQ(verify(tree, plans).message(), "");
    }
    Step& first(int rank, StepKind kind) {
        for (Step& step : plans[static_cast<std::size_t>(rank)].body.steps)
            if (step.kind == kind) return step;
        throw std::logic_error("no such step");
    }
    void expect_rejected(const std::string& part_of_message) {
        const Status status = verify(tree, plans);
        EXPECT_EQ(status.code(), Code::internal);
        EXPECT_NE(status.message().find(part_of_message), std::string::npos) << status.message();
    }
};

TEST_F(Broken, APlanByItselfShowsLostDependenciesAndSlotsOutside) {
    make(CodecId::nm_2_4);
    const Plan& sound = plans[0];
    EXPECT_EQ(verify_alone(sound).message(), "");
    for (std::size_t i = 0; i < sound.body.steps.size(); ++i) {
        if (sound.body.steps[i].dep_count == 0) continue;
        Plan broken = sound;
        broken.body.steps[i].dep_count = 0;
        EXPECT_EQ(verify_alone(broken).code(), Code::internal) << i;
    }
    Plan broken = sound;
    broken.body.slots.back().offset_bytes = broken.body.scratch_bytes;
    EXPECT_NE(verify_alone(broken).message().find("outside the scratch"), std::string::npos);
}

TEST_F(Broken, TwoPlansShowMessagesThatDoNotMatch) {
    make(CodecId::exact);
    EXPECT_EQ(verify_messages(plans[0], plans[1]).message(), "");
    const Plan sound = plans[0];
    first(0, StepKind::recv).stage = 77;
    const int peer = first(0, StepKind::recv).peer;
    const auto status = verify_messages(plans[0], plans[static_cast<std::size_t>(peer)]);
    EXPECT_EQ(status.code(), Code::internal);
    EXPECT_NE(status.message().find("nobody"), std::string::npos) << status.message();
    plans[0] = sound;
    plans[0].spec.count_elems += 1;
    EXPECT_NE(verify_messages(plans[0], plans[1]).message().find("same call"), std::string::npos);
}

TEST_F(Broken, EveryDroppedDependencyIsFound) {
    for (Exchange exchange : split_exchanges())
        for (CodecId codec : {CodecId::exact, CodecId::nm_2_4}) {
            make(codec, exchange);
            const std::vector<Plan> good = plans;
            int dropped = 0;
            for (std::size_t rank = 0; rank < good.size(); ++rank)
                for (std::size_t i = 0; i < good[rank].body.steps.size(); ++i) {
                    const Step& step = good[rank].body.steps[i];
                    for (std::uint32_t d = 0; d < step.dep_count; ++d) {
                        plans = good;
                        Schedule& body = plans[rank].body;
                        std::swap(body.deps[step.first_dep + d],
                                  body.deps[step.first_dep + step.dep_count - 1]);
                        --body.steps[i].dep_count;
                        EXPECT_FALSE(verify(tree, plans).ok())
                            << "rank " << rank << " step " << i << " dep " << d;
                        ++dropped;
                    }
                }
            EXPECT_GT(dropped, 20);
        }
}

TEST_F(Broken, SwappedPeer) {
    make(CodecId::exact);
    Step& send = first(0, StepKind::send);
    send.peer = send.peer == 1 ? 2 : 1;
    expect_rejected("");
}

TEST_F(Broken, StageThatNobodySends) {
    make(CodecId::exact);
    for (Plan& plan : plans) plan.stage_count = 10;
    first(2, StepKind::recv).stage = 9;
    expect_rejected("nobody sends");
}

TEST_F(Broken, RangeOfOtherElements) {
    make(CodecId::exact);
    Step& step = first(3, StepKind::reduce);
    step.range.begin -= 512;
    step.range.end -= 512;
    expect_rejected("");
}

TEST_F(Broken, RangeBeyondTheVector) {
    make(CodecId::exact);
    Step& step = first(3, StepKind::reduce);
    const std::int64_t shift = plans[3].body.count_elems;
    step.range = {step.range.begin + shift, step.range.end + shift};
    expect_rejected("range [");
}

TEST_F(Broken, SlotOutsideTheScratch) {
    make(CodecId::nm_2_4);
    plans[1].body.slots.back().offset_bytes = plans[1].body.scratch_bytes;
    expect_rejected("outside the scratch");
}

TEST_F(Broken, ContributionAddedTwice) {
    make(CodecId::exact);
    Schedule& body = plans[4].body;
    for (std::size_t i = 0; i < body.steps.size(); ++i) {
        if (body.steps[i].kind != StepKind::reduce) continue;
        Step again = body.steps[i];
        again.from_input = 0;
        insert_after(body, i, again);
        break;
    }
    expect_rejected("");
}

TEST_F(Broken, EncodedAgainOnTheWayDown) {
    make(CodecId::nm_2_4);
    Schedule& body = plans[2].body;
    for (std::size_t i = 0; i < body.steps.size(); ++i) {
        if (body.steps[i].kind != StepKind::decode)
            continue;  // the owner's own encoding: encode it once more
        Step again = body.steps[i];
        std::swap(again.from, again.to);
        again.kind = StepKind::encode;
        insert_after(body, i, again);
        break;
    }
    expect_rejected("");
}

TEST_F(Broken, MissingContribution) {
    make(CodecId::exact);
    Schedule& body = plans[0].body;
    for (Step& step : body.steps)
        if (step.kind == StepKind::reduce) {
            step.kind = StepKind::copy;
            step.from_input = 0;
            break;
        }
    expect_rejected("");
}

TEST_F(Broken, CircleOfWaits) {
    make(CodecId::exact);
    // Two messages between ranks 0 and 1, each side waiting for the other's.
    for (int rank : {0, 1}) {
        Schedule& body = plans[static_cast<std::size_t>(rank)].body;
        std::size_t recv = 0;
        while (body.steps[recv].kind != StepKind::recv || body.steps[recv].peer != 1 - rank) ++recv;
        for (Step& step : body.steps)
            if (step.kind == StepKind::send && step.peer == 1 - rank && step.stage == 0) {
                step.first_dep = static_cast<std::uint32_t>(body.deps.size());
                step.dep_count = 1;
                body.deps.push_back(static_cast<std::uint32_t>(recv));
            }
    }
    expect_rejected("circle");
}

TEST_F(Broken, PlansOfDifferentCalls) {
    make(CodecId::exact);
    plans[1].spec.in_place = !plans[1].spec.in_place;
    expect_rejected("not of the same call");
    plans.pop_back();
    expect_rejected("4 plans for 5 ranks");
}

}  // namespace
}  // namespace gradcoll
