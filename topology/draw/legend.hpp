// topology/draw/legend.hpp - what colours, borders and widths of a drawing mean.
#pragma once

#include <string>

#include "topology/draw/outline.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// A row of a table in Graphviz's HTML-like form: the kinds, folds and link widths that the outline
/// shows.
std::string legend_row(const Tree& tree, const Outline& outline);

}  // namespace gradcoll
