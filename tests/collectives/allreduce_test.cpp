// tests/collectives/allreduce_test.cpp - all ranks' plans together give the sum, whatever the order
// of events.
#include <gtest/gtest.h>

#include "support/random_trees.hpp"
#include "support/world.hpp"

namespace gradcoll {
namespace {

using testing::HeadCodec;
using testing::World;

std::vector<Plan> plans_of(const Tree& tree, const PlanSpec& spec) {
    std::vector<Plan> plans;
    for (int rank = 0; rank < tree.rank_count(); ++rank) {
        Result<Plan> plan = make_plan(tree, spec, rank);
        if (!plan.ok()) throw std::runtime_error(plan.status().message());
        plans.push_back(std::move(*plan));
    }
    return plans;
}

struct Shape {
    Tree tree;
    PlanSpec spec;
    std::uint64_t seed;
};

std::int64_t random_count(std::mt19937_64& random, int rank_count) {
    const std::int64_t most = rank_count <= 6 ? 100000 : 3000;
    switch (random() % 4) {
        case 0:
            return static_cast<std::int64_t>(random() % 20);
        case 1:
            return static_cast<std::int64_t>(random() % 1000);
        default:
            return static_cast<std::int64_t>(random() % most);
    }
}

Shape random_shape(std::uint64_t seed, bool lossy) {
    std::mt19937_64 random(seed);
    const int ranks = random() % 3 == 0 ? 1 + static_cast<int>(random() % 40)
                                        : 1 + static_cast<int>(random() % 9);
    Shape shape{testing::random_tree(ranks, random), {}, random()};
    PlanSpec& spec = shape.spec;
    spec.count_elems = random_count(random, ranks);
    spec.in_place = random() % 2 == 0;
    const std::int64_t granules[] = {1, 2, 16, 7};
    spec.granule_elems = lossy ? 512 : granules[random() % 4];
    if (lossy) spec.count_elems *= 1 + static_cast<std::int64_t>(random() % 4);
    if (random() % 2 == 0)
        spec.chunk_elems = spec.granule_elems * (1 + static_cast<std::int64_t>(random() % 40));
    if (spec.chunk_elems > 0 && spec.count_elems / spec.chunk_elems > 12) spec.chunk_elems = 0;
    spec.choices.resize(static_cast<std::size_t>(shape.tree.vertex_count()));
    const CodecId codecs[] = {CodecId::exact, CodecId::nm_2_4, CodecId::nm_1_16, CodecId::nm_4_8};
    for (VertexChoice& choice : spec.choices) {
        choice.exchange = random() % 2 == 0 ? Exchange::direct : Exchange::ring;
        if (lossy) choice.codec = codecs[random() % 4];
    }
    if (lossy) spec.down_codec = codecs[random() % 4];
    return shape;
}

/// Small whole numbers: their sums are exact in every type. `everywhere` false: only the first
/// elements of every codec block are not 0, so that no codec loses anything.
template <class T>
World<T> filled_world(const Shape& shape, bool everywhere) {
    World<T> world(plans_of(shape.tree, shape.spec));
    std::mt19937_64 random(shape.seed);
    const auto count = static_cast<std::size_t>(shape.spec.count_elems);
    for (int rank = 0; rank < shape.tree.rank_count(); ++rank) {
        std::vector<T> data(count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t safe = count - i / 512 * 512 < 512 ? 1 : 16;
            const bool keeps = everywhere || i % 512 < safe;
            data[i] = keeps ? static_cast<T>(random() % 64) : T{};
        }
        world.inputs.push_back(data);
        world.outputs.push_back(shape.spec.in_place ? data : std::vector<T>(count, T{99}));
    }
    return world;
}

template <class T>
std::vector<T> sum_of(const std::vector<std::vector<T>>& inputs) {
    std::vector<T> sum(inputs.front().size());
    for (const std::vector<T>& input : inputs)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += input[i];
    return sum;
}

template <class T>
void expect_sum_everywhere(World<T>& world, std::uint64_t seed) {
    const std::vector<T> expected = sum_of(world.inputs);
    ASSERT_EQ(world.run(seed), "");
    for (std::size_t rank = 0; rank < world.outputs.size(); ++rank)
        ASSERT_EQ(world.outputs[rank], expected);
}

TEST(Allreduce, ExactEqualsTheSumOnEveryRankOfRandomTrees) {
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        SCOPED_TRACE(seed);
        const Shape shape = random_shape(seed, false);
        auto world = filled_world<float>(shape, true);
        expect_sum_everywhere(world, seed);
        if (HasFatalFailure()) return;
    }
}

TEST(Allreduce, LossyMixesEqualTheSumWhereNothingIsLost) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(seed);
        const Shape shape = random_shape(seed, true);
        auto world = filled_world<float>(shape, false);
        expect_sum_everywhere(world, seed);
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace gradcoll
