// tests/topology/random_tree.hpp - makes random trees of any shape from a seed, and compares with
// the golden files of this folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll::test {

using Random = std::mt19937;

inline int below(Random& random, int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
}

/// Makes a tree with leaves `ranks[0..]` under inner vertices of 1 to 5 children; chains of one
/// child are frequent.
inline TreeSpec random_spec(Random& random, std::vector<int> ranks) {
    TreeSpec spec;
    if (below(random, 3) == 0) spec.uplink = {0.5 * below(random, 9), 0.25 * below(random, 9)};
    if (ranks.size() == 1 && below(random, 3) > 0) {
        spec.kind = VertexKind::rank;
        spec.rank = ranks[0];
        return spec;
    }
    spec.kind = static_cast<VertexKind>(1 + below(random, 9));
    if (below(random, 2) == 0) spec.name = "v\"\\" + std::to_string(below(random, 1000));
    const int branches = std::min<int>(1 + below(random, 5), static_cast<int>(ranks.size()));
    std::vector<std::vector<int>> parts(static_cast<std::size_t>(branches));
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const auto part = i < parts.size() ? i : static_cast<std::size_t>(below(random, branches));
        parts[part].push_back(ranks[i]);
    }
    for (auto& part : parts) spec.children.push_back(random_spec(random, std::move(part)));
    return spec;
}

inline TreeSpec random_spec(Random& random, int max_ranks) {
    std::vector<int> ranks(static_cast<std::size_t>(1 + below(random, max_ranks)));
    std::iota(ranks.begin(), ranks.end(), 0);
    if (below(random, 2) == 0) std::shuffle(ranks.begin(), ranks.end(), random);
    return random_spec(random, std::move(ranks));
}

inline Tree random_tree(Random& random, int max_ranks) {
    return std::move(Tree::make(random_spec(random, max_ranks))).value();
}

inline std::string file_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Compares with tests/golden/topologies/NAME; GRADCOLL_BLESS=1 in the environment writes the file
/// instead.
inline void expect_golden(const std::string& name, const std::string& actual) {
    const std::string path = std::string(GRADCOLL_TESTS_DIR) + "/golden/topologies/" + name;
    if (std::getenv("GRADCOLL_BLESS")) std::ofstream(path, std::ios::binary) << actual;
    EXPECT_EQ(actual, file_bytes(path)) << "golden file " << path;
}

inline std::string golden_path(const std::string& name) {
    return std::string(GRADCOLL_TESTS_DIR) + "/golden/topologies/" + name;
}

}  // namespace gradcoll::test
