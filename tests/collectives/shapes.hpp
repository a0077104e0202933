// tests/collectives/shapes.hpp - makes random calls on random trees, and worlds filled with numbers
// for them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "collectives/build/planner.hpp"
#include "support/exchanges.hpp"
#include "support/random_trees.hpp"
#include "support/world.hpp"

namespace gradcoll::testing {

inline std::vector<Plan> plans_of(const Tree& tree, const PlanSpec& spec) {
    const Result<Planner> planner = Planner::make(tree, spec);
    if (!planner.ok()) throw std::runtime_error(planner.status().message());
    std::vector<Plan> plans;
    for (int rank = 0; rank < tree.rank_count(); ++rank) {
        Result<Plan> plan = planner->plan(rank);
        if (!plan.ok()) throw std::runtime_error(plan.status().message());
        plans.push_back(std::move(*plan));
    }
    return plans;
}

template <class T>
constexpr ElementType type_of() {
    if constexpr (std::is_same_v<T, float>) return ElementType::f32;
    if constexpr (std::is_same_v<T, double>) return ElementType::f64;
    return ElementType::i64;
}

struct Shape {
    Tree tree;
    PlanSpec spec;
    std::uint64_t seed = 0;
};

struct Wish {
    Collective collective = Collective::allreduce;
    bool lossy = false;
    bool feedback = false;
    int most_ranks = 40;
    bool split_at_every_vertex = false;  ///< no single exchanges, nothing merged
};

inline std::int64_t random_count(std::mt19937_64& random, int rank_count) {
    const std::int64_t most = rank_count <= 6 ? (random() % 8 == 0 ? 100000 : 20000) : 3000;
    const std::int64_t limits[] = {20, 1000, most, most};
    return static_cast<std::int64_t>(random()) % limits[random() % 4];
}

/// Chooses any mix of exchanges that plans may have: single ones are exact and have only single
/// ones above them, merged vertices have the codec of the one above.
inline void choose(Shape& shape, const Wish& wish, std::mt19937_64& random) {
    const CodecId codecs[] = {CodecId::exact, CodecId::nm_2_4, CodecId::nm_1_16, CodecId::nm_4_8};
    const std::vector<Exchange> exchanges = split_exchanges();
    const bool may_be_single =
        wish.collective == Collective::allreduce && !wish.feedback && !wish.split_at_every_vertex;
    const std::uint64_t single_of_four = may_be_single ? random() % 5 : 0;
    const std::uint64_t merged_of_eight = wish.split_at_every_vertex ? 0 : random() % 3;
    std::vector<VertexChoice> choices(static_cast<std::size_t>(shape.tree.vertex_count()));
    std::vector<char> single_or_merged_into_it(choices.size(), 0);
    for (const int vertex : shape.tree.inner_vertices()) {
        const auto at = static_cast<std::size_t>(vertex);
        const int parent = shape.tree.vertex(vertex).parent;
        const auto above = static_cast<std::size_t>(std::max(parent, 0));
        VertexChoice& choice = choices[at];
        choice.exchange = exchanges[random() % exchanges.size()];
        if (wish.lossy) choice.codec = codecs[random() % 4];
        if (parent >= 0 && random() % 8 < merged_of_eight) {
            choice = {Exchange::merged, choices[above].codec};
            single_or_merged_into_it[at] = single_or_merged_into_it[above];
        } else if ((parent < 0 || single_or_merged_into_it[above]) &&
                   random() % 4 < single_of_four) {
            choice = {Exchange::single, CodecId::exact};
            single_or_merged_into_it[at] = 1;
        }
    }
    shape.spec.choices = std::move(choices);
    if (wish.lossy) shape.spec.down_codec = codecs[random() % 4];
}

template <class T>
Shape random_shape(std::uint64_t seed, const Wish& wish) {
    std::mt19937_64 random(seed);
    const int most = random() % 3 == 0 ? wish.most_ranks : 9;
    const int ranks = 1 + static_cast<int>(random() % most);
    Shape shape{random_tree(ranks, random), {}, random()};
    PlanSpec& spec = shape.spec;
    spec.collective = wish.collective;
    spec.type = type_of<T>();
    spec.elem_bytes = sizeof(T);
    spec.count_elems = std::abs(random_count(random, ranks));
    spec.in_place = random() % 2 == 0;
    spec.feedback = wish.feedback;
    const std::int64_t granules[] = {1, 2, 16, 7};
    const bool blocks = wish.lossy || wish.feedback;
    spec.granule_elems = blocks ? 512 : granules[random() % 4];
    if (blocks) spec.count_elems *= 1 + static_cast<std::int64_t>(random() % 4);
    if (wish.collective != Collective::allreduce) spec.count_elems -= spec.count_elems % ranks;
    if (random() % 2 == 0)
        spec.chunk_elems =
            chunk_multiple(spec, ranks) * (1 + static_cast<std::int64_t>(random() % 40));
    if (spec.chunk_elems > 0 && spec.count_elems / spec.chunk_elems > 12) spec.chunk_elems = 0;
    choose(shape, wish, random);
    spec.dealt = seed % 3 == 0;
    return shape;
}

/// Returns the ranks' numbers before the call, by rank, for the whole vector (allgather: only the
/// rank's own block counts). They are small whole numbers, whose sums are exact in every type. If
/// `safe`, only the first elements of every codec block are not 0, so that no codec loses anything;
/// encodings begin anew in each rank's block.
template <class T>
std::vector<std::vector<T>> random_data(const Shape& shape, bool safe) {
    std::mt19937_64 random(shape.seed);
    const auto count = static_cast<std::size_t>(shape.spec.count_elems);
    std::vector<std::vector<T>> data(static_cast<std::size_t>(shape.tree.rank_count()),
                                     std::vector<T>(count));
    const std::size_t block =
        shape.spec.collective == Collective::allreduce ? count : count / data.size();
    for (std::vector<T>& of_rank : data)
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t place = i % block;
            const std::size_t never_lost = block - place / 512 * 512 < 512 ? 1 : 16;
            if (!safe || place % 512 < never_lost) of_rank[i] = static_cast<T>(random() % 64);
        }
    return data;
}

/// Returns the element range of `rank`'s block.
inline std::pair<std::size_t, std::size_t> block_of(const Shape& shape, std::size_t rank) {
    const auto block = static_cast<std::size_t>(shape.spec.count_elems / shape.tree.rank_count());
    return {rank * block, (rank + 1) * block};
}

template <class T>
std::vector<T> slice(const std::vector<T>& all, std::pair<std::size_t, std::size_t> range) {
    return {all.begin() + static_cast<std::ptrdiff_t>(range.first),
            all.begin() + static_cast<std::ptrdiff_t>(range.second)};
}

/// Fills buffers as MPI lays them out for the collective; elements that are not input hold 99.
template <class T>
void fill(World<T>& world, const Shape& shape, const std::vector<std::vector<T>>& data) {
    world.inputs.clear();
    world.outputs.clear();
    const auto count = static_cast<std::size_t>(shape.spec.count_elems);
    for (std::size_t rank = 0; rank < data.size(); ++rank) {
        const auto block = block_of(shape, rank);
        const bool gathers = shape.spec.collective == Collective::allgather;
        const bool scatters = shape.spec.collective == Collective::reduce_scatter_block;
        std::vector<T> output(scatters && !shape.spec.in_place ? block.second - block.first : count,
                              T{99});
        if (shape.spec.in_place && !gathers) output = data[rank];
        if (shape.spec.in_place && gathers)
            for (std::size_t i = block.first; i < block.second; ++i) output[i] = data[rank][i];
        world.inputs.push_back(gathers ? slice(data[rank], block) : data[rank]);
        world.outputs.push_back(std::move(output));
    }
}

/// Returns what `rank` must have at the end.
template <class T>
std::vector<T> expected(const Shape& shape, const std::vector<std::vector<T>>& data,
                        std::size_t rank) {
    std::vector<T> result(data.front().size());
    for (std::size_t r = 0; r < data.size(); ++r) {
        const auto block = block_of(shape, r);
        const bool gathers = shape.spec.collective == Collective::allgather;
        for (std::size_t i = 0; i < result.size(); ++i)
            if (!gathers || (block.first <= i && i < block.second)) result[i] += data[r][i];
    }
    return shape.spec.collective == Collective::reduce_scatter_block
               ? slice(result, block_of(shape, rank))
               : result;
}

template <class T>
void expect_result(const Shape& shape, bool safe_data) {
    const auto data = random_data<T>(shape, safe_data);
    World<T> world(plans_of(shape.tree, shape.spec));
    fill(world, shape, data);
    ASSERT_EQ(world.run(shape.seed), "");
    const bool scatters = shape.spec.collective == Collective::reduce_scatter_block;
    std::vector<T> wanted;
    for (std::size_t rank = 0; rank < data.size(); ++rank) {
        if (rank == 0 || scatters) wanted = expected(shape, data, rank);
        std::vector<T> got = world.outputs[rank];
        got.resize(wanted.size());
        ASSERT_EQ(got, wanted) << "on rank " << rank;
    }
}

template <class T>
void expect_results(const Wish& wish, std::uint64_t seeds) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE(seed);
        expect_result<T>(random_shape<T>(seed, wish), wish.lossy);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace gradcoll::testing
