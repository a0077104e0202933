// topology/draw/picture.hpp - what the pictures (DOT, SVG) of a tree share: which entries they
// show, what is written into them, and shapes, colours and widths, with a legend of these.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "topology/draw/outline.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Returns as many entries as fit into a picture: the lowest levels are left out first, then
/// further branches of the root.
Outline outline_for_picture(const Tree& tree);

/// Returns the lines in the box of an entry; control characters in names are escaped
/// (title_parts()).
std::vector<std::string> lines_of_entry(const Tree& tree, const Outline& outline, std::size_t e);

/// Returns a heading such as "16 ranks on 4 hosts".
std::string picture_heading(const Tree& tree);

struct KindStyle {
    std::string_view fill;
    std::string_view stroke;
    std::string_view shape = {};  ///< attributes of its Graphviz node, if it is not a rounded box
};
KindStyle style_of(VertexKind kind);

inline constexpr std::string_view link_colour = "#64748b";
inline constexpr std::string_view marked_colour = "#dc2626";

/// Returns the line width for a link, by the logarithm of its bandwidth: 1.2 at 0.1 GB/s, plus two
/// for every factor of ten; 1.2 if the bandwidth is not known.
double link_width(const Uplink& link);

/// Returns a row of a table in Graphviz's HTML-like form: the kinds, folds and link widths that the
/// outline shows.
std::string legend_row(const Tree& tree, const Outline& outline);

}  // namespace gradcoll
