// collectives/draw/plan_text.cpp - draws the plan in characters: a bar for each rank and level, and
// the tree with what its links carry.
#include <fmt/format.h>

#include <algorithm>

#include "collectives/draw/plan_picture.hpp"
#include "topology/draw/draw.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

/// Returns a bar: '#' where most of a cell is owned, '+' where some of it is.
std::string bar_of(const std::vector<Range>& owned, std::int64_t count, int cells) {
    std::vector<double> filled(static_cast<std::size_t>(cells), 0.0);
    const double scale =
        static_cast<double>(cells) / static_cast<double>(std::max<std::int64_t>(count, 1));
    for (const Range& range : owned) {
        const double begin = static_cast<double>(range.begin) * scale;
        const double end = static_cast<double>(range.end) * scale;
        for (auto cell = static_cast<int>(begin); cell < cells && cell < end; ++cell)
            filled[static_cast<std::size_t>(cell)] +=
                std::min(end, cell + 1.0) - std::max(begin, static_cast<double>(cell));
    }
    std::string text;
    for (const double part : filled) text += part >= 0.5 ? '#' : part > 0 ? '+' : '.';
    return text;
}

std::int64_t elems_of(const std::vector<Range>& ranges) {
    std::int64_t sum = 0;
    for (const Range& range : ranges) sum += range.size();
    return sum;
}

std::string ownership_text(const PlanPicture& picture) {
    const int height = picture.tree->height();
    const int first = first_shown_level(picture);
    const int cells = std::clamp(96 / std::max(1, height - first), 12, 32);
    std::string text = ownership_heading(picture) + "\n";
    text += fmt::format("{:<12}", "after");
    for (int level = first; level < height; ++level)
        text += fmt::format("  {:<{}}", fmt::format("level {}", level), cells);
    text += "  at the end\n";
    for (const RankShares& shares : picture.ranks) {
        text += fmt::format("{:<12}", fmt::format("rank {}", shares.rank));
        for (int level = first; level < height; ++level)
            text += fmt::format("  {}", bar_of(shares.by_level[static_cast<std::size_t>(level)],
                                               picture.chunk_elems, cells));
        text += fmt::format("  {} elements\n", elems_of(shares.by_level.back()));
    }
    return text;
}

std::string one_way(const std::vector<LevelBytes>& levels, double LevelBytes::*way) {
    double sum = 0;
    std::string parts;
    for (const LevelBytes& level : levels) {
        sum += level.*way;
        parts += fmt::format("{}level {}: {}", parts.empty() ? "" : ", ", level.level,
                             bytes_words(level.*way));
    }
    return levels.size() < 2 ? bytes_words(sum) : fmt::format("{} ({})", bytes_words(sum), parts);
}

/// Returns whether this is the first link of the busiest entry: its line stands for all of them.
bool leads_busiest(const PlanPicture& picture, int vertex) {
    if (picture.busiest < 0) return false;
    return vertex == picture.outline.entries[static_cast<std::size_t>(picture.busiest)].vertex();
}

std::string note_of(const PlanPicture& picture, int vertex) {
    if (vertex == picture.tree->root()) return {};
    const std::vector<LevelBytes> levels = picture.traffic.by_level(vertex);
    const std::string up = one_way(levels, &LevelBytes::up);
    const std::string down = one_way(levels, &LevelBytes::down);
    std::string text = up == down ? fmt::format("; carries {} each way", up)
                                  : fmt::format("; carries {} up, {} down", up, down);
    if (const double us = picture.traffic.time_us(vertex); us > 0)
        text += fmt::format(", {}", time_words(us));
    return leads_busiest(picture, vertex) ? text + "  <- busiest" : text;
}

}  // namespace

std::string text_of(const PlanPicture& picture) {
    std::string text = plan_heading(picture) + "\n";
    if (!picture.note.empty()) text += picture.note + "\n";
    if (picture.tree->rank_count() == 1) return text + "nothing is sent\n";
    if (!picture.ranks.empty()) text += fmt::format("\n{}", ownership_text(picture));
    text += fmt::format("\nwhat the links carry ({})\n", picture.traffic.counted()
                                                             ? "counted in the plans of all ranks"
                                                             : "by formula, without headers");
    return text + draw_text(*picture.tree, [&](int vertex) { return note_of(picture, vertex); });
}

}  // namespace gradcoll
