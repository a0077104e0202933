#include "topology/draw/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "topology/draw/outline.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {
namespace {

/// Returns 0 if some ranks are on hosts that the tree does not name. A rank that is alone on its
/// host is a leaf with the host's name.
int host_count(const Tree& tree) {
    int hosts = 0;
    for (int id = 0; id < tree.vertex_count(); ++id) {
        const Vertex& vertex = tree.vertex(id);
        hosts += vertex.kind == VertexKind::host ? 1 : 0;
        if (vertex.rank < 0 || vertex.kind == VertexKind::host) continue;
        int above = vertex.parent;
        while (above >= 0 && tree.vertex(above).kind != VertexKind::host)
            above = tree.vertex(above).parent;
        if (above >= 0) continue;
        if (vertex.name.empty()) return 0;
        ++hosts;
    }
    return hosts;
}

/// Returns whether the entry lists its ranks: leaves do, the outermost entry of a fold, and entries
/// with nothing drawn below.
bool tells_ranks(const Tree& tree, const OutlineEntry& entry) {
    return names_ranks(tree, entry) || (entry.children.empty() && !entry.inside_fold);
}

}  // namespace

Outline outline_for_picture(const Tree& tree) {
    constexpr std::size_t most_entries = 240;
    constexpr int most_children = 12;
    for (int cut = 0; cut < tree.height(); ++cut)
        if (Outline outline = outline_of(tree, {cut, 0}); outline.entries.size() <= most_entries)
            return outline;
    return outline_of(tree, {std::max(0, tree.height() - 1), most_children});
}

std::vector<std::string> lines_of_entry(const Tree& tree, const Outline& outline, std::size_t e) {
    const OutlineEntry& entry = outline.entries[e];
    const Vertex& vertex = tree.vertex(entry.vertex());
    const EntryTitle title = title_parts(tree, entry);
    std::vector<std::string> lines = {title.what};
    if (!title.ranks.empty()) lines.push_back(title.ranks);
    if (vertex.rank >= 0) return lines;
    lines.push_back(fmt::format("{} branches, {} ranks{}", vertex.children.size(),
                                vertex.leaf_count, entry.copies() > 1 ? " each" : ""));
    if (outline.left_out[e] > 0)
        lines.push_back(fmt::format("{} more branches", outline.left_out[e]));
    if (tells_ranks(tree, entry))
        lines.push_back(fmt::format("ranks {}", number_list(ranks_of(tree, entry))));
    return lines;
}

std::string picture_heading(const Tree& tree) {
    const int hosts = host_count(tree);
    return counted(tree.rank_count(), "rank") +
           (hosts > 1 ? fmt::format(" on {} hosts", hosts) : "");
}

}  // namespace gradcoll
