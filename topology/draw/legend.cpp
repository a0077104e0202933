// topology/draw/legend.cpp - see legend.hpp.
#include "topology/draw/legend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "topology/draw/style.hpp"

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

/// A sample for each power of ten that the links reach.
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
