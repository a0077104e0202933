// topology/draw/style.cpp - see style.hpp.
#include "topology/draw/style.hpp"

#include <algorithm>
#include <cmath>

namespace gradcoll {

KindStyle style_of(VertexKind kind) {
    switch (kind) {
        case VertexKind::rank:
            return {"#ffffff", "#475569"};
        case VertexKind::core:
            return {"#e2e8f0", "#64748b"};
        case VertexKind::cache:
            return {"#ede9fe", "#7c3aed", "shape=ellipse, style=filled"};
        case VertexKind::numa:
            return {"#ccfbf1", "#0d9488", "shape=octagon, style=filled"};
        case VertexKind::package:
            return {"#dcfce7", "#16a34a", "style=filled"};
        case VertexKind::bridge:
            return {"#ffe4e6", "#e11d48", "shape=hexagon, style=filled, margin=0"};
        case VertexKind::gpu:
            return {"#d9f99d", "#4d7c0f", "style=filled, penwidth=2.6"};
        case VertexKind::host:
            return {"#fef3c7", "#d97706"};
        case VertexKind::fabric_switch:
            return {"#dbeafe", "#2563eb", "shape=hexagon, style=filled, margin=0"};
        case VertexKind::group:
            break;
    }
    return {"#f8fafc", "#94a3b8", "style=\"filled,rounded,dashed\""};
}

double link_width(const Uplink& link) {
    constexpr double thinnest = 1.2;
    constexpr double thickest = 10;
    if (link.bandwidth_gbytes_per_s <= 0) return thinnest;
    const double decades = std::log10(link.bandwidth_gbytes_per_s / 0.1);
    return std::clamp(thinnest + 2 * decades, thinnest, thickest);
}

}  // namespace gradcoll
