// topology/draw/draw_dot.cpp - writes Graphviz: each entry of the outline is a node, hosts are
// clusters; the heading is the graph's label, the legend that of a cluster around all nodes.
#include <fmt/format.h>

#include "topology/draw/draw.hpp"
#include "topology/draw/picture.hpp"
#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

constexpr std::string_view head = R"(graph topology {
  graph [fontname="Helvetica", fontsize=14, labelloc=t, labeljust=l, nodesep=0.15, ranksep=0.4];
  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=12, margin="0.08,0.04"];
  edge [fontname="Helvetica", fontsize=10];
)";

/// Returns a label with a white background, so that it can be read on top of its link.
std::string on_white(const std::string& text) {
    return fmt::format(
        R"(<<table border="0" cellpadding="0" cellspacing="1" bgcolor="white"><tr><td>{}</td></tr></table>>)",
        text);
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
        out_ += picture_heading(tree_) + "\\l\";\n";
    }

    std::string label_of(std::size_t e) const {
        std::string label;
        for (const std::string& line : lines_of_entry(tree_, outline_, e))
            label += (label.empty() ? "" : "\\n") + escaped_name(line);
        return label;
    }

    /// Writes the nodes in pre-order, so that the nodes of a host follow each other: its cluster
    /// ends where the depth falls back to the host's.
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
