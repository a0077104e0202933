// topology/draw/style.hpp - shapes, colours and widths of the drawings, and the legend that says
// what they mean.
#pragma once

#include <string>
#include <string_view>

#include "topology/draw/outline.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

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
