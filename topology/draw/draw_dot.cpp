// topology/draw/draw_dot.cpp - Graphviz: an entry of the outline is a node, hosts are clusters; the
// heading is the graph's label, the legend that of a cluster around all nodes.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "topology/draw/draw.hpp"
#include "topology/draw/entry_words.hpp"
#include "topology/draw/style.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

constexpr std::string_view head = R"(graph topology {
  graph [fontname="Helvetica", fontsize=14, labelloc=t, labeljust=l, nodesep=0.15, ranksep=0.4];
  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=12, margin="0.08,0.04"];
  edge [fontname="Helvetica", fontsize=10];
)";

/// As many entries as a picture takes.
Outline outline_for_picture(const Tree& tree) {
    constexpr std::size_t most_entries = 240;
    constexpr int most_children = 12;
    for (int cut = 0; cut < tree.height(); ++cut)
        if (Outline outline = outline_of(tree, {cut, 0}); outline.entries.size() <= most_entries)
            return outline;
    return outline_of(tree, {std::max(0, tree.height() - 1), most_children});
}

/// A label that can be read where it stands on its link.
std::string on_white(const std::string& text) {
    return fmt::format(
        R"(<<table border="0" cellpadding="0" cellspacing="1" bgcolor="white"><tr><td>{}</td></tr></table>>)",
        text);
}

/// 0 if some ranks are on hosts that the tree does not tell. A rank that is alone on its host is a
/// leaf with the host's name.
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

std::string heading_of(const Tree& tree) {
    const int hosts = host_count(tree);
    return counted(tree.rank_count(), "rank") +
           (hosts > 1 ? fmt::format(" on {} hosts", hosts) : "");
}

class DotDrawer {
  public:
    DotDrawer(const Tree& tree, const DotAdditions& additions)
        : tree_(tree), additions_(additions), outline_(outline_for_picture(tree)) {}

    std::string draw() {
        out_ = head;
        heading();
        out_ += "  subgraph cluster_all {\n  peripheries=0; labelloc=b; fontsize=10;\n";
        out_ += fmt::format("  label=<<table border=\"0\">\n{}\n{}</table>>;\n",
                            legend_row(tree_, outline_), additions_.rows);
        nodes();
        out_ += "  }\n";
        edges();
        return std::move(out_) + "}\n";
    }

  private:
    void heading() {
        out_ += "  label=\"";
        for (const std::string& line : additions_.heading) out_ += escaped_name(line) + "\\l";
        out_ += heading_of(tree_) + "\\l\";\n";
    }

    /// Ranks are told at leaves, by the outermost of a fold, and where nothing is drawn below.
    bool tells_ranks(const OutlineEntry& entry) const {
        return names_ranks(tree_, entry) || (entry.children.empty() && !entry.inside_fold);
    }

    std::string label_of(std::size_t e) const {
        const OutlineEntry& entry = outline_.entries[e];
        const Vertex& vertex = tree_.vertex(entry.vertex());
        const EntryTitle title = title_parts(tree_, entry);
        std::string label = escaped_name(title.what);
        if (!title.ranks.empty()) label += "\\n" + title.ranks;
        if (vertex.rank >= 0) return label;
        label += fmt::format("\\n{} branches, {} ranks", vertex.children.size(), vertex.leaf_count);
        if (entry.copies() > 1) label += " each";
        if (outline_.left_out[e] > 0)
            label += fmt::format("\\n{} more branches", outline_.left_out[e]);
        if (tells_ranks(entry))
            label += fmt::format("\\nranks {}", number_list(ranks_of(tree_, entry)));
        return label;
    }

    /// Pre-order, so the nodes of a host stand together: its cluster ends where the depth does.
    void nodes() {
        int cluster_depth = -1;
        for (std::size_t e = 0; e < outline_.entries.size(); ++e) {
            const OutlineEntry& entry = outline_.entries[e];
            if (cluster_depth >= 0 && entry.depth <= cluster_depth) {
                out_ += "  }\n";
                cluster_depth = -1;
            }
            const Vertex& vertex = tree_.vertex(entry.vertex());
            if (vertex.kind == VertexKind::host && vertex.rank < 0 && cluster_depth < 0) {
                out_ += fmt::format(
                    "  subgraph cluster_v{} {{\n  label=\"\"; peripheries=1; "
                    "style=\"filled,rounded\"; color=\"#fde68a\"; fillcolor=\"#fffbeb\";\n",
                    entry.vertex());
                cluster_depth = entry.depth;
            }
            node(e, vertex.kind);
        }
        if (cluster_depth >= 0) out_ += "  }\n";
    }

    void node(std::size_t e, VertexKind kind) {
        const OutlineEntry& entry = outline_.entries[e];
        const KindStyle style = style_of(kind);
        out_ += fmt::format("  v{} [label=\"{}\", fillcolor=\"{}\", color=\"{}\"{}{}{}];\n",
                            entry.vertex(), label_of(e), style.fill, style.stroke,
                            style.shape.empty() ? "" : ", ", style.shape,
                            entry.copies() > 1 ? ", peripheries=2" : "");
    }

    LinkLabel label_of_link(int vertex) const {
        if (additions_.link_label) return additions_.link_label(vertex);
        return {link_figures_text(tree_.vertex(vertex).uplink, "<br/>")};
    }

    void edges() {
        for (const OutlineEntry& entry : outline_.entries) {
            if (entry.parent < 0) continue;
            const LinkLabel label = label_of_link(entry.vertex());
            out_ += fmt::format("  v{} -- v{} [penwidth={:.1f}, color=\"{}\"",
                                outline_.entries[static_cast<std::size_t>(entry.parent)].vertex(),
                                entry.vertex(), link_width(tree_.vertex(entry.vertex()).uplink),
                                label.marked ? marked_colour : link_colour);
            if (!label.text.empty()) out_ += fmt::format(", label={}", on_white(label.text));
            if (label.marked) out_ += fmt::format(", fontcolor=\"{}\"", marked_colour);
            out_ += "];\n";
        }
    }

    const Tree& tree_;
    const DotAdditions& additions_;
    Outline outline_;
    std::string out_;
};

}  // namespace

std::string draw_dot(const Tree& tree, const DotAdditions& additions) {
    return DotDrawer(tree, additions).draw();
}

}  // namespace gradcoll
