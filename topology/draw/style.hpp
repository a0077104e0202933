// topology/draw/style.hpp - colours and widths that DOT and SVG share.
#pragma once

#include <string_view>

#include "topology/tree.hpp"

namespace gradcoll {

struct KindStyle {
    std::string_view fill;
    std::string_view stroke;
};
KindStyle style_of(VertexKind kind);

/// Width of a line for a link: by the logarithm of its bandwidth, from 1.2 at 0.1 GB/s on, two for
/// every factor of ten; 1.2 where it is not known.
double link_width(const Uplink& link);

}  // namespace gradcoll
