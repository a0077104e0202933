// topology/draw/draw_text.cpp - writes indented text, one line for each entry of the outline.
#include <fmt/format.h>

#include "topology/draw/draw.hpp"
#include "topology/draw/outline.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

/// Returns whether the entry is a plain leaf inside a fold: the line above lists its rank.
bool says_nothing_new(const Tree& tree, const Outline& outline, const OutlineEntry& entry) {
    const Vertex& vertex = tree.vertex(entry.vertex());
    return entry.inside_fold && vertex.rank >= 0 && vertex.kind == VertexKind::rank &&
           vertex.name.empty() && link_figures_text(vertex.uplink, "").empty() &&
           outline.entries[static_cast<std::size_t>(entry.parent)].children.size() == 1;
}

std::string line_of(const Tree& tree, const OutlineEntry& entry) {
    const Vertex& vertex = tree.vertex(entry.vertex());
    const char* each = entry.copies() > 1 ? "each " : "";
    std::string text = title_of(tree, entry);
    if (vertex.rank < 0)
        text += fmt::format(": {} branches, {} ranks{}", vertex.children.size(), vertex.leaf_count,
                            entry.copies() > 1 ? " each" : "");
    if (names_ranks(tree, entry) && vertex.rank < 0)
        text += "; ranks " + number_list(ranks_of(tree, entry));
    const std::string figures = link_figures_text(vertex.uplink, ", ");
    return figures.empty() ? text : fmt::format("{}; {}uplink {}", text, each, figures);
}

}  // namespace

std::string draw_text(const Tree& tree, const LineNote& note) {
    const Outline outline = outline_of(tree);
    std::string out;
    for (const OutlineEntry& entry : outline.entries) {
        if (!note && says_nothing_new(tree, outline, entry)) continue;
        out.append(2 * static_cast<std::size_t>(entry.depth), ' ');
        out += line_of(tree, entry);
        if (note) out += note(entry.vertex());
        out += '\n';
    }
    return out;
}

}  // namespace gradcoll
