// collectives/draw/plan_dot.cpp - draws with Graphviz: the tree with what its links carry, and
// below it a bar for each rank and level.
#include <fmt/format.h>

#include <algorithm>

#include "collectives/draw/plan_picture.hpp"
#include "topology/draw/draw.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

/// Returns the colour of a rank, the same for neighbours in a branch of the root.
std::string_view colour_of(const Tree& tree, int rank) {
    constexpr std::string_view colours[] = {"#2563eb", "#d97706", "#16a34a", "#7c3aed",
                                            "#e11d48", "#0d9488", "#64748b", "#ca8a04"};
    int at = tree.leaf_of(rank);
    while (tree.vertex(at).parent > 0) at = tree.vertex(at).parent;
    return colours[static_cast<std::size_t>(std::max(0, tree.vertex(at).branch)) %
                   std::size(colours)];
}

/// Returns whether this is the link that the outline marks, or one alike.
bool is_busiest(const PlanPicture& picture, int vertex) {
    if (picture.busiest < 0) return false;
    const OutlineEntry& entry = picture.outline.entries[static_cast<std::size_t>(picture.busiest)];
    return std::find(entry.members.begin(), entry.members.end(), vertex) != entry.members.end();
}

LinkLabel label_of(const PlanPicture& picture, int vertex) {
    const LevelBytes bytes = picture.traffic.total(vertex);
    const std::string up = bytes_words(bytes.up);
    const std::string down = bytes_words(bytes.down);
    LinkLabel label{up == down ? up : fmt::format("{} up<br/>{} down", up, down)};
    if (const double us = picture.traffic.time_us(vertex); us > 0)
        label.text += "<br/>" + time_words(us);
    label.marked = is_busiest(picture, vertex);
    return label;
}

/// Returns one row of cells, filled where the vector is owned.
std::string bar_of(const std::vector<Range>& owned, std::int64_t count, int width,
                   std::string_view colour) {
    const double scale = width / static_cast<double>(std::max<std::int64_t>(count, 1));
    std::string cells;
    int at = 0;
    const auto cell_up_to = [&](int end, std::string_view ground) {
        if (end <= at) return;
        cells +=
            fmt::format("<td height=\"9\" width=\"{}\" bgcolor=\"{}\"></td>", end - at, ground);
        at = end;
    };
    for (const Range& range : owned) {
        const auto begin = static_cast<int>(static_cast<double>(range.begin) * scale);
        const auto end = static_cast<int>(static_cast<double>(range.end) * scale);
        cell_up_to(begin, "#e2e8f0");
        if (range.size() > 0) cell_up_to(std::min(width, std::max(end, begin + 1)), colour);
    }
    cell_up_to(width, "#e2e8f0");
    return "<table border=\"0\" cellspacing=\"0\" cellpadding=\"0\"><tr>" + cells + "</tr></table>";
}

std::string ownership_rows(const PlanPicture& picture) {
    const int height = picture.tree->height();
    const int first = first_shown_level(picture);
    const int width = std::clamp(640 / std::max(1, height - first), 72, 288);
    std::string rows =
        fmt::format("<tr><td align=\"left\">{}</td></tr>\n", ownership_heading(picture));
    rows +=
        "<tr><td align=\"left\"><table border=\"0\" cellspacing=\"3\" "
        "cellpadding=\"1\"><tr><td></td>";
    for (int level = first; level < height; ++level)
        rows += fmt::format("<td align=\"left\">after level {}</td>", level);
    rows += "</tr>\n";
    for (const RankShares& shares : picture.ranks) {
        rows += fmt::format("<tr><td align=\"left\">rank {}</td>", shares.rank);
        for (int level = first; level < height; ++level)
            rows +=
                fmt::format("<td>{}</td>", bar_of(shares.by_level[static_cast<std::size_t>(level)],
                                                  picture.chunk_elems, width,
                                                  colour_of(*picture.tree, shares.rank)));
        rows += "</tr>\n";
    }
    return rows + "</table></td></tr>\n";
}

std::string subtitle_of(const PlanPicture& picture) {
    if (picture.tree->rank_count() == 1) return "nothing is sent";
    return fmt::format(
        "on each link: bytes each way, {}; time at its bandwidth, where known{}",
        picture.traffic.counted() ? "counted in the plans of all ranks" : "by formula",
        picture.busiest >= 0 ? "; red: busiest" : "");
}

}  // namespace

std::string dot_of(const PlanPicture& picture) {
    DotAdditions additions;
    additions.heading = {plan_heading(picture), subtitle_of(picture)};
    if (!picture.note.empty()) additions.heading.push_back(picture.note);
    additions.link_label = [&](int vertex) { return label_of(picture, vertex); };
    if (picture.tree->rank_count() > 1 && !picture.ranks.empty())
        additions.rows = ownership_rows(picture);
    return draw_dot(*picture.tree, additions);
}

}  // namespace gradcoll
