// topology/draw/draw.hpp - a tree for people: indented text (like lstopo), Graphviz DOT, SVG. All
// deterministic; siblings that are alike up to rank numbers and the numbers in names are drawn
// once, as "x16". Complexity: near linear in vertices. Thread safe.
#pragma once

#include <functional>
#include <string>

#include "topology/tree.hpp"

namespace gradcoll {

/// What is to be added to the line of a vertex; gets the first of those that the line stands for.
using LineNote = std::function<std::string(int vertex)>;

/// One line a vertex or a fold. Every rank is told once, in the line of its leaf or of the
/// outermost fold that it is in.
std::string draw_text(const Tree& tree, const LineNote& note = nullptr);

/// Colours by kind, hosts as clusters, pen width by bandwidth.
std::string draw_dot(const Tree& tree);

/// Root on top, levels aligned, leaves at the bottom; link widths by bandwidth; a legend. At most a
/// slide wide as long as folding makes it so: where it does not, the lower levels are told by
/// numbers, then further branches by how many they are. XML 1.0 in UTF-8 without scripts or
/// references.
std::string draw_svg(const Tree& tree);

}  // namespace gradcoll
