// topology/draw/draw.hpp - draws a tree for people: indented text (like lstopo), Graphviz DOT, and
// SVG, which browsers show. All output is deterministic; siblings that are alike up to rank numbers
// and the numbers in names are drawn once, as "x16". Complexity: near linear in vertices. Thread
// safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// A LineNote returns what to add to the line of a vertex; it gets the first of the vertices that
/// the line stands for.
using LineNote = std::function<std::string(int vertex)>;

/// Returns one line for each vertex or fold. Every rank appears once, in the line of its leaf or of
/// the outermost fold that it is in.
std::string draw_text(const Tree& tree, const LineNote& note = nullptr);

struct LinkLabel {
    std::string text;     ///< in Graphviz's HTML-like form: <br/> between lines
    bool marked = false;  ///< the link that people should look at: red
};

/// DotAdditions are what a drawing of something that happens on the tree adds to that of the tree.
struct DotAdditions {
    std::vector<std::string> heading;  ///< lines above the tree's own heading
    /// Returns the label of the link above a vertex. Without it links show their bandwidth and
    /// latency.
    std::function<LinkLabel(int vertex)> link_label;
    std::string rows;  ///< rows of a table below the legend, in Graphviz's HTML-like form
};

/// Draws the root on top; shapes and colours by kind, hosts as clusters, link widths by bandwidth;
/// a heading and a legend. If the tree has more entries than fit, the lowest levels are left out,
/// then further branches of the root, which says how many; draw_text() has all of them.
std::string draw_dot(const Tree& tree, const DotAdditions& additions = {});

/// An SvgLink says what is written at a link of an SVG drawing.
struct SvgLink {
    std::vector<std::string> lines;  ///< plain text
    double width = 0;                ///< width of the line in px; 0: by bandwidth
    bool marked = false;             ///< red
};

/// Draws the same entries as draw_dot(), as an <svg> element for an HTML document or a file of its
/// own. `link` describes the link above a vertex (the first of those that an entry stands for);
/// without it links show their bandwidth and latency.
std::string draw_svg(const Tree& tree, const std::function<SvgLink(int vertex)>& link = nullptr);

}  // namespace gradcoll
