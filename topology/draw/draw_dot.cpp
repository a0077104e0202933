// topology/draw/draw_dot.cpp - Graphviz: an entry of the outline is a node, hosts are clusters.
#include <fmt/format.h>

#include "topology/draw/draw.hpp"
#include "topology/draw/entry_words.hpp"
#include "topology/draw/style.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

class DotDrawer {
  public:
    explicit DotDrawer(const Tree& tree) : tree_(tree), outline_(outline_of(tree)) {}

    std::string draw() {
        out_ =
            "graph topology {\n  node [shape=box, style=\"filled,rounded\", "
            "fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\", fontsize=10];\n";
        nodes();
        edges();
        return std::move(out_) + "}\n";
    }

  private:
    std::string label_of(const OutlineEntry& entry) const {
        const Vertex& vertex = tree_.vertex(entry.vertex());
        std::string label = escaped_name(title_of(tree_, entry));
        if (vertex.rank >= 0) return label;
        label += fmt::format("\\n{} branches, {} ranks", vertex.children.size(), vertex.leaf_count);
        if (entry.copies() > 1) label += " each";
        if (names_ranks(tree_, entry))
            label += fmt::format("\\nranks {}", number_list(ranks_of(tree_, entry)));
        return label;
    }

    /// Pre-order, so the nodes of a host stand together: its cluster ends where the depth does.
    void nodes() {
        int cluster_depth = -1;
        for (const OutlineEntry& entry : outline_.entries) {
            if (cluster_depth >= 0 && entry.depth <= cluster_depth) {
                out_ += "  }\n";
                cluster_depth = -1;
            }
            const Vertex& vertex = tree_.vertex(entry.vertex());
            if (vertex.kind == VertexKind::host && vertex.rank < 0 && cluster_depth < 0) {
                out_ += fmt::format(
                    "  subgraph cluster_v{} {{\n  style=\"filled,rounded\"; color=\"#fde68a\"; "
                    "fillcolor=\"#fffbeb\";\n",
                    entry.vertex());
                cluster_depth = entry.depth;
            }
            node(entry, vertex.kind);
        }
        if (cluster_depth >= 0) out_ += "  }\n";
    }

    void node(const OutlineEntry& entry, VertexKind kind) {
        const KindStyle style = style_of(kind);
        out_ += fmt::format("  v{} [label=\"{}\", fillcolor=\"{}\", color=\"{}\"{}];\n",
                            entry.vertex(), label_of(entry), style.fill, style.stroke,
                            entry.copies() > 1 ? ", peripheries=2" : "");
    }

    void edges() {
        for (const OutlineEntry& entry : outline_.entries) {
            if (entry.parent < 0) continue;
            const Uplink& link = tree_.vertex(entry.vertex()).uplink;
            const std::string figures = link_figures_text(link, "\\n");
            out_ += fmt::format("  v{} -- v{} [penwidth={:.1f}{}];\n",
                                outline_.entries[static_cast<std::size_t>(entry.parent)].vertex(),
                                entry.vertex(), link_width(link),
                                figures.empty() ? "" : fmt::format(", label=\"{}\"", figures));
        }
    }

    const Tree& tree_;
    Outline outline_;
    std::string out_;
};

}  // namespace

std::string draw_dot(const Tree& tree) {
    return DotDrawer(tree).draw();
}

}  // namespace gradcoll
