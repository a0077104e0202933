// topology/draw/legend.hpp - the shapes of the kinds, and what they and the links mean.
#pragma once

#include "topology/draw/outline.hpp"
#include "topology/draw/svg.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// The outline and ground of a card of this kind.
void draw_shape(SvgCanvas& canvas, VertexKind kind, const Box& box);

struct Legend {
    SvgCanvas canvas;  ///< from (0, 0)
    double width = 0;
    double height = 0;
};

/// Of what the outline shows (`folds`: stacks of cards are among it), in lines of at most `width`
/// (an entry alone may be wider).
Legend legend_of(const Tree& tree, const Outline& outline, bool folds, double width);

}  // namespace gradcoll
