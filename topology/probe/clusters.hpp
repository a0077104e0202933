// topology/probe/clusters.hpp - which of a few things are nearer to each other than to the rest.
#pragma once

#include <functional>
#include <vector>

namespace gradcoll {

/// The cost between two different things, the same both ways; infinite if it is not known.
using CostOf = std::function<double(int, int)>;

/// All sets of 2 to count-1 things which single linkage finds and whose cheapest way out costs at
/// least `gap` times the dearest link that holds the set together; each in ascending order. Two of
/// these sets are either disjoint or one holds the other; smaller ones come first. Where costs run
/// through without a gap there are none. A set with no known way out is not told. Complexity: the
/// cube of count at worst.
std::vector<std::vector<int>> clusters(int count, const CostOf& cost, double gap);

/// Those that no other one holds, and those that hold no other one.
std::vector<std::vector<int>> outermost(std::vector<std::vector<int>> sets);
std::vector<std::vector<int>> innermost(std::vector<std::vector<int>> sets);

}  // namespace gradcoll
