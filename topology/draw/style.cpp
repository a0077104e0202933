// topology/draw/style.cpp - see style.hpp.
#include "topology/draw/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradcoll {

namespace {

bool shows(const Tree& tree, const Outline& outline, VertexKind kind) {
    return std::any_of(outline.entries.begin(), outline.entries.end(),
                       [&](const auto& entry) { return tree.vertex(entry.vertex()).kind == kind; });
}

std::string kind_cells(const Tree& tree, const Outline& outline) {
    constexpr VertexKind order[] = {
        VertexKind::fabric_switch, VertexKind::group,  VertexKind::host,  VertexKind::package,
        VertexKind::numa,          VertexKind::bridge, VertexKind::cache, VertexKind::core,
        VertexKind::gpu,           VertexKind::rank};
    std::string cells;
    for (const VertexKind kind : order) {
        if (!shows(tree, outline, kind)) continue;
        const KindStyle style = style_of(kind);
        cells += fmt::format(R"(<td border="1" bgcolor="{}" color="{}">{}</td>)", style.fill,
                             style.stroke, name_of(kind));
    }
    return cells;
}

/// Returns a sample line for each power of ten that the links reach.
std::string link_cells(const Tree& tree) {
    double least = 0;
    double most = 0;
    for (int id = 1; id < tree.vertex_count(); ++id) {
        const double bandwidth = tree.vertex(id).uplink.bandwidth_gbytes_per_s;
        if (bandwidth <= 0) continue;
        least = least > 0 ? std::min(least, bandwidth) : bandwidth;
        most = std::max(most, bandwidth);
    }
    if (most <= 0) return {};
    constexpr int slowest = -1;
    constexpr int fastest = 3;
    const int low = std::clamp(static_cast<int>(std::floor(std::log10(least))), slowest, fastest);
    const int high = std::clamp(static_cast<int>(std::ceil(std::log10(most))), low, fastest);
    std::string cells;
    for (int power = low; power <= high; ++power) {
        const double bandwidth = std::pow(10.0, power);
        cells += fmt::format(
            R"(<td><table border="0" cellspacing="0" cellpadding="0"><tr>)"
            R"(<td width="24" height="{:.0f}" fixedsize="true" bgcolor="{}"></td></tr></table></td>)"
            R"(<td>{:.4g} GB/s</td>)",
            link_width({bandwidth, 0}), link_colour, bandwidth);
    }
    return cells;
}

}  // namespace

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

std::string legend_row(const Tree& tree, const Outline& outline) {
    const bool folds = std::any_of(outline.entries.begin(), outline.entries.end(),
                                   [](const auto& entry) { return entry.copies() > 1; });
    return fmt::format(
        "<tr><td align=\"left\"><table border=\"0\" cellspacing=\"4\"><tr>{}{}{}</tr></table>"
        "</td></tr>",
        kind_cells(tree, outline), folds ? "<td>double border, xN: N alike, drawn once</td>" : "",
        link_cells(tree));
}

}  // namespace gradcoll
