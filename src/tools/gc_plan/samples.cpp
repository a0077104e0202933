#include "samples.hpp"

#include <algorithm>
#include <random>
#include <unordered_set>

namespace gc_plan {
namespace {

using gradcoll::Tree;
using gradcoll::Vertex;

/// From the root, always to the branch for which `measure` is largest (the first of equal ones).
template <class Measure>
int descend(const Tree& tree, Measure measure) {
    int vertex = tree.root();
    while (!tree.is_leaf(vertex)) {
        const auto children = tree.children(vertex);
        vertex = *std::max_element(children.begin(), children.end(), [&](int a, int b) {
            return measure(tree.vertex(a)) < measure(tree.vertex(b));
        });
    }
    return tree.vertex(vertex).rank;
}

}  // namespace

std::vector<Sample> samples_of(const Tree& tree, int count, std::int64_t seed) {
    const int most = std::min(count, tree.rank_count());
    std::vector<Sample> samples;
    std::unordered_set<int> taken;
    const auto take = [&](int rank, const char* why) {
        if (static_cast<int>(samples.size()) < most && taken.insert(rank).second)
            samples.push_back({rank, why});
    };
    take(0, "first");
    take(tree.rank_count() - 1, "last");
    take(descend(tree, [](const Vertex& v) { return -v.leaf_count; }), "smallest branches");
    take(descend(tree, [](const Vertex& v) { return v.leaf_count; }), "largest branches");
    take(descend(tree, [](const Vertex& v) { return v.height; }), "deepest branches");
    if (most == tree.rank_count())
        for (int rank = 0; rank < most; ++rank) take(rank, "all");
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    while (static_cast<int>(samples.size()) < most)
        take(static_cast<int>(random() % static_cast<std::uint64_t>(tree.rank_count())), "random");
    return samples;
}

}  // namespace gc_plan
