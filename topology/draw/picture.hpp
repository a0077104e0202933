// topology/draw/picture.hpp - a tree as a picture that can stand in a larger one.
#pragma once

#include <functional>

#include "topology/draw/layout.hpp"
#include "topology/draw/svg.hpp"

namespace gradcoll {

/// The label of the link above a vertex.
using LabelLink = std::function<LinkLabel(int vertex)>;

struct TreePicture {
    SvgCanvas canvas;
    double width = 0;
    double height = 0;
};

/// Heading, tree and legend, from (0, 0). Without `label` links show their bandwidth and latency.
TreePicture tree_picture(const Tree& tree, const LabelLink& label = nullptr);

}  // namespace gradcoll
