// topology/draw/draw.cpp - see draw.hpp.
#include "topology/draw/draw.hpp"

#include <fmt/format.h>

#include "topology/uplink.hpp"

namespace gradcoll {

namespace {

/// Quotes, backslashes and control characters escaped, so that a name can neither end a string nor
/// start a line.
std::string escaped(const std::string& name) {
    std::string out;
    for (const char c : name) {
        const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        if (c == '"' || c == '\\') out += '\\';
        out += control ? '?' : c;
    }
    return out;
}

std::string figures_of(const Uplink& link, std::string_view separator) {
    std::string out;
    if (link.bandwidth_gbytes_per_s > 0)
        out += fmt::format("{:.4g} GB/s", link.bandwidth_gbytes_per_s);
    if (link.latency_us > 0)
        out += fmt::format("{}{:.4g} us", out.empty() ? "" : separator, link.latency_us);
    return out;
}

/// `host "n1"`, or `rank 3` for a leaf; the name is escaped.
std::string title_of(const Vertex& vertex) {
    std::string out(name_of(vertex.kind));
    if (!vertex.name.empty()) out += " \"" + escaped(vertex.name) + "\"";
    if (vertex.rank >= 0)
        out = (vertex.kind == VertexKind::rank ? out : out + ", rank") +
              fmt::format(" {}", vertex.rank);
    return out;
}

/// Leaves that one line of text can stand for.
bool alike(const Vertex& a, const Vertex& b) {
    return b.rank >= 0 && a.kind == b.kind && a.name.empty() && b.name.empty() &&
           same_link(a.uplink, b.uplink);
}

class TextDrawer {
  public:
    explicit TextDrawer(const Tree& tree) : tree_(tree) {}

    std::string draw() {
        vertex(tree_.root(), 0);
        return std::move(out_);
    }

  private:
    void vertex(int id, std::size_t depth) {
        const Vertex& v = tree_.vertex(id);
        if (v.rank >= 0) return line(depth, title_of(v), v.uplink, "uplink");
        line(depth,
             fmt::format("{}: {} branches, {} ranks", title_of(v), v.children.size(), v.leaf_count),
             v.uplink, "uplink");
        for (std::size_t c = 0; c < v.children.size();) {
            const std::size_t count = alike_from(v.children, c);
            if (count > 1) {
                ranks(v.children, c, count, depth + 1);
            } else {
                vertex(v.children[c], depth + 1);
            }
            c += count;
        }
    }

    std::size_t alike_from(const std::vector<int>& children, std::size_t first) const {
        const Vertex& leaf = tree_.vertex(children[first]);
        std::size_t count = 1;
        while (leaf.rank >= 0 && first + count < children.size() &&
               alike(leaf, tree_.vertex(children[first + count])))
            ++count;
        return count;
    }

    /// One line "ranks 0-3, 7" for `count` leaves that are alike.
    void ranks(const std::vector<int>& children, std::size_t first, std::size_t count,
               std::size_t depth) {
        const Vertex& leaf = tree_.vertex(children[first]);
        std::string text =
            leaf.kind == VertexKind::rank ? "ranks" : fmt::format("{}s, ranks", name_of(leaf.kind));
        for (std::size_t i = 0; i < count;) {
            const int begin = tree_.vertex(children[first + i]).rank;
            int end = begin;
            while (++i < count && tree_.vertex(children[first + i]).rank == end + 1) ++end;
            text += fmt::format("{} {}", text.back() == 's' ? "" : ",", begin);
            if (end > begin) text += fmt::format("-{}", end);
        }
        line(depth, text, leaf.uplink, "each uplink");
    }

    void line(std::size_t depth, const std::string& text, const Uplink& link,
              std::string_view what) {
        const std::string figures = figures_of(link, ", ");
        out_.append(2 * depth, ' ');
        out_ += figures.empty() ? text : fmt::format("{}; {} {}", text, what, figures);
        out_ += '\n';
    }

    const Tree& tree_;
    std::string out_;
};

}  // namespace

std::string draw_text(const Tree& tree) {
    return TextDrawer(tree).draw();
}

std::string draw_dot(const Tree& tree) {
    std::string out = "graph topology {\n  node [shape=box];\n";
    for (int id = 0; id < tree.vertex_count(); ++id) {
        const Vertex& v = tree.vertex(id);
        out += fmt::format("  v{} [label=\"{}{}\"{}];\n", id, escaped(title_of(v)),
                           v.rank >= 0 ? "" : fmt::format("\\n{} branches", v.children.size()),
                           v.rank >= 0 ? ", shape=ellipse" : "");
    }
    for (int id = 1; id < tree.vertex_count(); ++id) {
        const Vertex& v = tree.vertex(id);
        const std::string figures = figures_of(v.uplink, "\\n");
        out += fmt::format("  v{} -- v{}{};\n", v.parent, id,
                           figures.empty() ? "" : fmt::format(" [label=\"{}\"]", figures));
    }
    return out + "}\n";
}

}  // namespace gradcoll
