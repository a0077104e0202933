// collectives/draw/plan_svg.cpp - the tree with what its links carry, and below it a bar for each
// rank and level.
#include <fmt/format.h>

#include <algorithm>

#include "collectives/draw/plan_picture.hpp"
#include "topology/draw/picture.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

constexpr double margin = 24;
constexpr double name_width = 90;
constexpr double bar_height = 12;
constexpr double row_height = 17;
constexpr double column_gap = 18;
constexpr int most_levels = 8;  // columns; of a taller tree the highest ones

/// Neighbours in a branch of the root have one colour.
std::string_view colour_of(const Tree& tree, int rank) {
    constexpr std::string_view colours[] = {"#2563eb", "#d97706", "#16a34a", "#7c3aed",
                                            "#e11d48", "#0d9488", "#64748b", "#ca8a04"};
    int at = tree.leaf_of(rank);
    while (tree.vertex(at).parent > 0) at = tree.vertex(at).parent;
    return colours[static_cast<std::size_t>(std::max(0, tree.vertex(at).branch)) %
                   std::size(colours)];
}

/// The link that the outline marks and those that are alike.
bool is_busiest(const PlanPicture& picture, int vertex) {
    const OutlineEntry& entry = picture.outline.entries[static_cast<std::size_t>(picture.busiest)];
    return std::find(entry.members.begin(), entry.members.end(), vertex) != entry.members.end();
}

LinkLabel label_of(const PlanPicture& picture, int vertex) {
    const LevelBytes bytes = picture.traffic.total(vertex);
    const std::string up = bytes_words(bytes.up);
    const std::string down = bytes_words(bytes.down);
    LinkLabel label;
    if (up == down) {
        label.lines.push_back(up);
    } else {
        label.lines.push_back(up + " up");
        label.lines.push_back(down + " down");
    }
    if (const double us = picture.traffic.time_us(vertex); us > 0)
        label.lines.push_back(time_words(us));
    label.marked = is_busiest(picture, vertex);
    return label;
}

class OwnershipPanel {
  public:
    OwnershipPanel(const PlanPicture& picture, double width)
        : picture_(picture), first_(std::max(0, picture.tree->height() - most_levels)) {
        const double columns = picture.tree->height() - first_;
        bar_width_ = std::clamp((width - name_width) / columns - column_gap, 90.0, 320.0);
    }

    double width() const {
        return name_width + (picture_.tree->height() - first_) * (bar_width_ + column_gap);
    }
    double height() const {
        return 2 * row_height + row_height * static_cast<double>(picture_.ranks.size());
    }

    void draw(SvgCanvas& canvas) const {
        Lettering head{12};
        head.anchor = Anchor::start;
        head.bold = true;
        canvas.text(0, 10, heading(), head);
        head.size = 10;
        for (int level = first_; level < picture_.tree->height(); ++level)
            canvas.text(column(level), 10 + row_height, fmt::format("after level {}", level), head);
        double y = 2 * row_height;
        for (const RankShares& shares : picture_.ranks) {
            row(canvas, shares, y);
            y += row_height;
        }
    }

  private:
    std::string heading() const {
        std::string text = "Who owns what ";
        text += picture_.chunk_count > 1 ? "of each chunk" : "of the vector";
        if (static_cast<int>(picture_.ranks.size()) < picture_.tree->rank_count())
            text += fmt::format(" ({} of {} ranks)", picture_.ranks.size(),
                                picture_.tree->rank_count());
        return text;
    }
    double column(int level) const {
        return name_width + (level - first_) * (bar_width_ + column_gap);
    }

    void row(SvgCanvas& canvas, const RankShares& shares, double y) const {
        Lettering name{10, "#334155"};
        name.anchor = Anchor::start;
        canvas.text(0, y + 10, fmt::format("rank {}", shares.rank), name);
        const double scale =
            bar_width_ / static_cast<double>(std::max<std::int64_t>(picture_.chunk_elems, 1));
        for (int level = first_; level < picture_.tree->height(); ++level) {
            const double x = column(level);
            canvas.rect({x, y, bar_width_, bar_height}, 2, {"#f1f5f9"});
            for (const Range& range : shares.by_level[static_cast<std::size_t>(level)])
                canvas.rect({x + static_cast<double>(range.begin) * scale, y,
                             std::max(0.5, static_cast<double>(range.size()) * scale), bar_height},
                            0, {colour_of(*picture_.tree, shares.rank)});
        }
    }

    const PlanPicture& picture_;
    int first_;
    double bar_width_ = 0;
};

std::string subtitle_of(const PlanPicture& picture) {
    std::string text = picture.traffic.counted()
                           ? "on each link: bytes each way, counted in the plans of all ranks"
                           : "on each link: bytes each way, by formula";
    text += "; time at its bandwidth, where known";
    return picture.busiest >= 0 ? text + "; red: busiest" : text;
}

}  // namespace

std::string svg_of(const PlanPicture& picture) {
    constexpr double heading_height = 58;
    constexpr double between = 12;
    const std::string heading = plan_heading(picture);
    const std::string subtitle =
        picture.tree->rank_count() == 1 ? "nothing is sent" : subtitle_of(picture);
    const TreePicture tree =
        tree_picture(*picture.tree, [&](int vertex) { return label_of(picture, vertex); });
    double width = std::max({tree.width, text_width(heading, 18, true) + 2 * margin,
                             text_width(subtitle, 11) + 2 * margin,
                             text_width(picture.note, 11) + 2 * margin});
    double height = heading_height + tree.height;
    SvgCanvas canvas;
    Lettering words{18};
    words.anchor = Anchor::start;
    words.bold = true;
    canvas.text(margin, margin + 8, heading, words);
    words = {11, "#475569", Anchor::start};
    canvas.text(margin, margin + 26, subtitle, words);
    canvas.text(margin, margin + 42, picture.note, words);
    canvas.open_at(0, heading_height);
    canvas.add(tree.canvas);
    canvas.close();
    if (picture.tree->rank_count() > 1) {
        const OwnershipPanel panel(picture, width - 2 * margin);
        width = std::max(width, panel.width() + 2 * margin);
        canvas.open_at(margin, height + between);
        panel.draw(canvas);
        canvas.close();
        height += between + panel.height() + margin;
    }
    return canvas.document(width, height, heading);
}

}  // namespace gradcoll
