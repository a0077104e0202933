// tests/collectives/calls.hpp - short ways to write a call and a tree.
#pragma once

#include <cstdint>

#include "collectives/plan/plan.hpp"
#include "support/random_trees.hpp"
#include "topology/text.hpp"

namespace gradcoll::testing {

inline PlanSpec call_of(std::int64_t count) {
    PlanSpec spec;
    spec.count_elems = count;
    return spec;
}

inline Tree tree_of(const char* expression) {
    return tree_from_expression(expression, -1).value();
}

/// Makes two and three hosts below switches, with the same figures on every link of a depth.
inline Tree known_links(Uplink switches, Uplink hosts) {
    TreeSpec spec = two_level_tree({2, 3}).spec();
    for (TreeSpec& branch : spec.children) {
        branch.uplink = switches;
        for (TreeSpec& leaf : branch.children) leaf.uplink = hosts;
    }
    return Tree::make(spec).value();
}

}  // namespace gradcoll::testing
