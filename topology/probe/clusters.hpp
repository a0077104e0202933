// topology/probe/clusters.hpp - finds which of a few things are nearer to each other than to the
// rest.
#pragma once

#include <functional>
#include <vector>

namespace gradcoll {

/// A CostOf returns the cost between two different things, the same both ways; infinite if it is
/// not known.
using CostOf = std::function<double(int, int)>;

/// Returns all sets of 2 to count-1 things that single linkage finds and whose cheapest way out
/// costs at least `gap` times the dearest link that holds the set together; each in ascending
/// order. Two such sets are either disjoint or one contains the other; smaller ones come first.
/// Costs without a gap give no sets, and a set with no known way out is omitted. Complexity: at
/// worst the cube of count.
std::vector<std::vector<int>> clusters(int count, const CostOf& cost, double gap);

/// Return the sets that no other one contains, and those that contain no other one.
std::vector<std::vector<int>> outermost(std::vector<std::vector<int>> sets);
std::vector<std::vector<int>> innermost(std::vector<std::vector<int>> sets);

}  // namespace gradcoll
