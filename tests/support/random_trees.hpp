// tests/support/random_trees.hpp - trees of every shape for property tests, the same for the same
// seed.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll::testing {

/// Makes a vertex over the ranks [first, last) of `order`: cut into 1 to 5 branches of random
/// sizes, one-rank branches and chains included.
inline TreeSpec random_subtree(const std::vector<int>& order, std::size_t first, std::size_t last,
                               std::mt19937_64& random) {
    TreeSpec spec;
    if (last - first == 1) {
        spec.rank = order[first];
        return spec;
    }
    const std::size_t most = std::min<std::size_t>(last - first, random() % 3 == 0 ? 64 : 5);
    const std::size_t branches = 2 + random() % (most - 1);
    std::vector<std::size_t> cuts{first, last};
    while (cuts.size() < branches + 1) {
        const std::size_t cut = first + 1 + random() % (last - first - 1);
        if (std::find(cuts.begin(), cuts.end(), cut) == cuts.end()) cuts.push_back(cut);
    }
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
        spec.children.push_back(random_subtree(order, cuts[i], cuts[i + 1], random));
    return spec;
}

inline Tree random_tree(int rank_count, std::mt19937_64& random) {
    std::vector<int> order(static_cast<std::size_t>(rank_count));
    std::iota(order.begin(), order.end(), 0);
    if (random() % 2 == 0) std::shuffle(order.begin(), order.end(), random);
    return Tree::make(random_subtree(order, 0, order.size(), random)).value();
}

/// Makes a tree of two levels: one branch for each entry, with that many ranks.
inline Tree two_level_tree(const std::vector<int>& sizes) {
    TreeSpec root;
    int rank = 0;
    for (int size : sizes) {
        TreeSpec branch;
        for (int i = 0; i < size; ++i) {
            TreeSpec leaf;
            leaf.rank = rank++;
            branch.children.push_back(leaf);
        }
        root.children.push_back(branch);
    }
    return Tree::make(root).value();
}

}  // namespace gradcoll::testing
