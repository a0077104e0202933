// tests/ways/hosts/dealt_hosts.hpp - ranks of this machine dealt to hosts that are not there.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "topology/text.hpp"
#include "topology/tree.hpp"

namespace gradcoll::test {

/// A Deal returns the host of a rank among so many ranks.
using Deal = std::function<int(int rank, int ranks)>;
struct Hosts {
    const char* name;
    Deal deal;
};
inline const Hosts all_hosts[] = {
    {"pairs", [](int rank, int) { return rank / 2; }},
    {"one alone", [](int rank, int) { return rank == 0 ? 0 : 1; }},
    {"two alone and a large one", [](int rank, int) { return std::min(rank, 2); }},
    {"dealt in turns", [](int rank, int) { return rank % 2; }},
    {"lopsided halves", [](int rank, int ranks) { return rank < ranks / 3 ? 0 : 1; }},
};

/// Makes a tree with all hosts below one vertex.
inline Tree tree_of(const Deal& deal, int ranks) {
    TreeSpec root;
    for (int rank = 0; rank < ranks; ++rank) {
        const auto host = static_cast<std::size_t>(deal(rank, ranks));
        if (root.children.size() <= host) root.children.resize(host + 1);
        TreeSpec leaf;
        leaf.rank = rank;
        root.children[host].kind = VertexKind::host;
        root.children[host].children.push_back(leaf);
    }
    std::erase_if(root.children, [](const TreeSpec& host) { return host.children.empty(); });
    return *Tree::make(root);
}

inline std::string name_of_hosts(const testing::TestParamInfo<Hosts>& of) {
    std::string name = of.param.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

}  // namespace gradcoll::test
