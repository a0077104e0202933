// topology/text.hpp - the written forms of a tree that need no library: nested expression and JSON.
#pragma once

#include <string>
#include <string_view>

#include "topology/tree.hpp"

namespace gradcoll {

/// Reads an expression such as `((0 1) (2 3 4))`: parentheses are inner vertices, numbers are
/// ranks, commas are spaces. A `rank_count` < 0 allows any number. An inner vertex may carry a kind
/// and a name before its parenthesis: `host:n1(0 1)`, or be a rank that others hang on: `rank:0(1
/// 2)`; ranges `0-3` stand for `0 1 2 3`. Shorthand for large trees: `16x` before an item repeats
/// it, `*` is the lowest rank that is written nowhere else, `@12.5/1.5` behind an item is its
/// uplink (GB/s, us): `switch(3x host(8x*)@12.5 host(4x*))`. Errors: invalid_argument with line and
/// column, what was found and what was expected, for any text.
Result<Tree> tree_from_expression(std::string_view text, int rank_count);

/// Returns the shortest expression that reads back as the same shape (kinds, names and figures are
/// left out).
std::string expression_of(const Tree& tree);

/// Reads {"kind","name","rank","bandwidth_gbytes_per_s","latency_us","children":[...]}, or the flat
/// list {"vertices":[{"id","parent","kind",...}]} in any order; topology/README.md has the schema.
/// Errors: invalid_argument with the JSON pointer (or line and column) of the offending place.
Result<Tree> tree_from_json(std::string_view text, int rank_count);
/// Writes the nested form, as tree_from_json reads it (names that are not UTF-8 lose the offending
/// bytes).
std::string json_of(const Tree& tree);

}  // namespace gradcoll
