// topology/draw/draw.hpp - a tree for people: indented text (like lstopo), Graphviz DOT, which
// Graphviz turns into pictures, and SVG, which browsers show. All deterministic; siblings that are
// alike up to rank numbers and the numbers in names are drawn once, as "x16". Complexity: near
// linear in vertices. Thread safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// What is to be added to the line of a vertex; gets the first of those that the line stands for.
using LineNote = std::function<std::string(int vertex)>;

/// One line a vertex or a fold. Every rank is told once, in the line of its leaf or of the
/// outermost fold that it is in.
std::string draw_text(const Tree& tree, const LineNote& note = nullptr);

struct LinkLabel {
    std::string text;     ///< in Graphviz's HTML-like form: <br/> between lines
    bool marked = false;  ///< the link that people should look at: red
};

/// What a drawing of something that happens on the tree adds to that of the tree.
struct DotAdditions {
    std::vector<std::string> heading;  ///< lines above that of the tree
    /// Of the link above a vertex. Without it links show their bandwidth and latency.
    std::function<LinkLabel(int vertex)> link_label;
    std::string rows;  ///< of a table below the legend, in Graphviz's HTML-like form
};

/// Root on top; shapes and colours by kind, hosts as clusters, link widths by bandwidth; a heading
/// and a legend. Of trees with more entries than a picture takes the lowest levels are left out,
/// then further branches of the root, which says how many they are; draw_text() has all of them.
std::string draw_dot(const Tree& tree, const DotAdditions& additions = {});

/// What stands at a link of an SVG drawing.
struct SvgLink {
    std::vector<std::string> lines;  ///< plain text
    double width = 0;                ///< of the line; 0: by bandwidth
    bool marked = false;             ///< red
};

/// The same entries as in draw_dot(), as an <svg> element that stands in an HTML document or in a
/// file of its own. `link`: of the link above a vertex (the first of those that an entry stands
/// for); without it links show their bandwidth and latency.
std::string draw_svg(const Tree& tree, const std::function<SvgLink(int vertex)>& link = nullptr);

}  // namespace gradcoll
