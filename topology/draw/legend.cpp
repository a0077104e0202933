// topology/draw/legend.cpp - see legend.hpp.
#include "topology/draw/legend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "topology/draw/style.hpp"

namespace gradcoll {

namespace {

constexpr int kind_count = static_cast<int>(VertexKind::group) + 1;
constexpr double sample_width = 24;
constexpr double sample_height = 14;
constexpr double text_size = 10;
constexpr double line_height = 22;

/// A box whose left and right ends are points.
std::vector<std::pair<double, double>> pointed(const Box& b, double depth) {
    const double middle = b.y + b.h / 2;
    return {{b.x, middle},
            {b.x + depth, b.y},
            {b.right() - depth, b.y},
            {b.right(), middle},
            {b.right() - depth, b.bottom()},
            {b.x + depth, b.bottom()}};
}

/// A box without its corners.
std::vector<std::pair<double, double>> cut(const Box& b, double corner) {
    return {{b.x + corner, b.y},
            {b.right() - corner, b.y},
            {b.right(), b.y + corner},
            {b.right(), b.bottom() - corner},
            {b.right() - corner, b.bottom()},
            {b.x + corner, b.bottom()},
            {b.x, b.bottom() - corner},
            {b.x, b.y + corner}};
}

struct Item {
    double width = 0;  ///< of the sample
    std::string text;
    std::function<void(SvgCanvas&, const Box&)> sample;
};

std::vector<Item> kind_items(const Tree& tree, const Outline& outline) {
    std::array<bool, kind_count> seen{};
    for (const OutlineEntry& entry : outline.entries)
        seen[static_cast<std::size_t>(tree.vertex(entry.vertex()).kind)] = true;
    constexpr VertexKind order[] = {
        VertexKind::fabric_switch, VertexKind::group,  VertexKind::host,  VertexKind::package,
        VertexKind::numa,          VertexKind::bridge, VertexKind::cache, VertexKind::core,
        VertexKind::gpu,           VertexKind::rank};
    std::vector<Item> items;
    for (const VertexKind kind : order)
        if (seen[static_cast<std::size_t>(kind)])
            items.push_back(
                {sample_width, std::string(name_of(kind)),
                 [kind](SvgCanvas& canvas, const Box& box) { draw_shape(canvas, kind, box); }});
    return items;
}

void add_fold_item(std::vector<Item>& items) {
    items.push_back(
        {sample_width, "xN: N alike, drawn once", [](SvgCanvas& canvas, const Box& box) {
             for (const double shift : {4.0, 0.0})
                 canvas.rect({box.x + shift, box.y - shift / 2, box.w - 4, box.h}, 3,
                             {"#f1f5f9", "#64748b", 1});
         }});
}

/// A sample for each power of ten that the links reach.
void add_link_items(const Tree& tree, std::vector<Item>& items) {
    double least = 0;
    double most = 0;
    for (int id = 1; id < tree.vertex_count(); ++id) {
        const double bandwidth = tree.vertex(id).uplink.bandwidth_gbytes_per_s;
        if (bandwidth <= 0) continue;
        least = least > 0 ? std::min(least, bandwidth) : bandwidth;
        most = std::max(most, bandwidth);
    }
    if (most <= 0) return;
    constexpr int slowest = -1;
    constexpr int fastest = 3;
    const int low = std::clamp(static_cast<int>(std::floor(std::log10(least))), slowest, fastest);
    const int high = std::clamp(static_cast<int>(std::ceil(std::log10(most))), low, fastest);
    for (int power = low; power <= high; ++power) {
        const double bandwidth = std::pow(10.0, power);
        items.push_back({sample_width, fmt::format("{:.4g} GB/s", bandwidth),
                         [bandwidth](SvgCanvas& canvas, const Box& box) {
                             const double y = box.y + box.h / 2;
                             canvas.path({{box.x, y}, {box.right(), y}},
                                         {"none", "#64748b", link_width({bandwidth, 0})});
                         }});
    }
}

}  // namespace

void draw_shape(SvgCanvas& canvas, VertexKind kind, const Box& box) {
    const KindStyle style = style_of(kind);
    const double scale = box.h / 38;
    Paint paint{style.fill, style.stroke, 1.4};
    switch (kind) {
        case VertexKind::fabric_switch:
            return canvas.polygon(pointed(box, 10 * scale), paint);
        case VertexKind::bridge:
            return canvas.polygon(pointed(box, 6 * scale), paint);
        case VertexKind::numa:
            return canvas.polygon(cut(box, 7 * scale), paint);
        case VertexKind::cache:
            return canvas.rect(box, box.h / 2, paint);
        case VertexKind::package:
            return canvas.rect(box, 0, paint);
        case VertexKind::gpu:
            paint.width = 2.6;
            return canvas.rect(box, 2, paint);
        case VertexKind::group:
            paint.dashed = true;
            return canvas.rect(box, 8 * scale, paint);
        case VertexKind::host:
            return canvas.rect(box, 8 * scale, paint);
        case VertexKind::core:
        case VertexKind::rank:
            return canvas.rect(box, 3 * scale, paint);
    }
}

Legend legend_of(const Tree& tree, const Outline& outline, bool folds, double width) {
    std::vector<Item> items = kind_items(tree, outline);
    if (folds) add_fold_item(items);
    add_link_items(tree, items);
    Legend legend;
    double x = 0;
    double y = 0;
    for (const Item& item : items) {
        const double needed = item.width + 6 + text_width(item.text, text_size) + 14;
        if (x > 0 && x + needed > width) {
            x = 0;
            y += line_height;
        }
        item.sample(legend.canvas, {x, y, item.width, sample_height});
        Lettering how{text_size, "#334155"};
        how.anchor = Anchor::start;
        legend.canvas.text(x + item.width + 6, y + 11, item.text, how);
        x += needed;
        legend.width = std::max(legend.width, x);
    }
    legend.height = y + line_height;
    return legend;
}

}  // namespace gradcoll
