// topology/tree.cpp - makes trees: checks the description, collapses chains, numbers the vertices.
#include "topology/tree.hpp"

#include <fmt/format.h>

#include <cassert>
#include <map>
#include <utility>

#include "base/hash.hpp"
#include "topology/rank_ledger.hpp"

namespace gradcoll {

namespace {

/// Flattener turns a TreeSpec into vertices in pre-order (parent, kind, name, rank and uplink
/// only), and checks each.
class Flattener {
  public:
    Status add(const TreeSpec& spec, int parent) {
        GRADCOLL_TRY(check(spec));
        const int id = static_cast<int>(vertices_.size());
        Vertex& vertex = vertices_.emplace_back();
        const bool leaf = spec.children.empty();
        vertex.kind = kind_of(spec);
        vertex.name = spec.name;
        vertex.parent = parent;
        vertex.rank = leaf ? spec.rank : -1;
        vertex.uplink = spec.uplink;
        if (!leaf && spec.rank >= 0) add_own_leaf(spec.rank, id);
        for (const TreeSpec& child : spec.children) {
            path_.push_back(static_cast<int>(&child - spec.children.data()));
            GRADCOLL_TRY(add(child, id));
            path_.pop_back();
        }
        return {};
    }
    Status complete() const { return ranks_.complete(); }
    std::vector<Vertex> take() { return std::move(vertices_); }

  private:
    /// Returns the kind of a vertex. One of kind rank with branches is only a group.
    static VertexKind kind_of(const TreeSpec& spec) {
        const bool unsaid = spec.kind == VertexKind::group || spec.kind == VertexKind::rank;
        if (!unsaid) return spec.kind;
        return spec.children.empty() ? VertexKind::rank : VertexKind::group;
    }

    /// Adds the leaf of a rank with children. Its link to itself is not known.
    void add_own_leaf(int rank, int parent) {
        Vertex& leaf = vertices_.emplace_back();
        leaf.kind = VertexKind::rank;
        leaf.parent = parent;
        leaf.rank = rank;
    }

    Status check(const TreeSpec& spec) {
        const bool has_rank = spec.rank >= 0;
        const bool has_both = has_rank && !spec.children.empty();
        if (path_.size() + (has_both ? 1 : 0) > max_tree_depth)
            return wrong(
                spec, fmt::format("is deeper than the {} levels that are allowed", max_tree_depth));
        if (spec.name.size() > max_name_bytes)
            return wrong(spec, fmt::format("has a name of {} bytes: at most {} are allowed",
                                           spec.name.size(), max_name_bytes));
        if (!has_rank && spec.rank != -1)
            return wrong(spec, fmt::format("has rank {}: ranks start at 0", spec.rank));
        if (!has_rank && spec.children.empty())
            return wrong(spec, "has no ranks below it: every inner vertex needs at least one");
        if (!has_rank && spec.kind == VertexKind::rank)
            return wrong(spec, "is of kind rank but does not say which rank it is");
        GRADCOLL_TRY(check_link(spec));
        if (!has_rank) return {};
        const Status status = ranks_.add(spec.rank);
        return status.ok() ? status : wrong(spec, "is refused: " + status.message());
    }

    Status check_link(const TreeSpec& spec) const {
        const auto [bandwidth, latency] = spec.uplink;
        if (!is_link_figure(bandwidth))
            return wrong(
                spec, fmt::format("has the bandwidth {} GB/s: it must be finite and not negative",
                                  bandwidth));
        if (!is_link_figure(latency))
            return wrong(
                spec,
                fmt::format("has the latency {} us: it must be finite and not negative", latency));
        return {};
    }

    Status wrong(const TreeSpec& spec, const std::string& what) const {
        std::string path;
        for (const int branch : path_) path += fmt::format("/children/{}", branch);
        const std::string name = spec.name.empty() ? "" : " \"" + spec.name.substr(0, 80) + "\"";
        return {Code::invalid_argument,
                fmt::format("topology: vertex {} ({}{}) {}", path.empty() ? "/" : path,
                            name_of(spec.kind), name, what)};
    }

    std::vector<Vertex> vertices_;
    std::vector<int> path_;  // branch numbers from the root to the vertex at hand
    RankLedger ranks_{-1};
};

/// Drops vertices without ranks below and collapses chains. `raw` is in pre-order, and so is the
/// result. A host in a chain gives it kind and name: people look for hosts, and ranks below one
/// share its memory, whichever of its parts they are in. The only rank of one host among several
/// stays a leaf, with the host's name if it has none of its own or only a GPU's.
std::vector<Vertex> condensed(std::vector<Vertex> raw) {
    struct Place {
        int id = -1;     // the nearest kept vertex at or above
        Uplink carried;  // the links of the collapsed vertices between here and there
        int host = -1;   // the collapsed vertex between here and there that is a host
    };
    std::vector<int> branches(raw.size(), 0);  // branches that have ranks
    for (std::size_t v = raw.size(); v-- > 1;)
        if (raw[v].rank >= 0 || branches[v] > 0)
            ++branches[static_cast<std::size_t>(raw[v].parent)];

    std::vector<Place> places(raw.size());
    std::vector<Vertex> kept;
    for (std::size_t v = 0; v < raw.size(); ++v) {
        const bool leaf = raw[v].rank >= 0;
        if (!leaf && branches[v] == 0) continue;
        const Place above = v == 0 ? Place{} : places[static_cast<std::size_t>(raw[v].parent)];
        const Uplink link = in_a_row(above.carried, raw[v].uplink);
        if (!leaf && branches[v] == 1) {
            const bool host = raw[v].kind == VertexKind::host;
            places[v] = {above.id, link, host ? static_cast<int>(v) : above.host};
            continue;
        }
        places[v] = {static_cast<int>(kept.size()), {}};
        kept.push_back(std::move(raw[v]));
        if (above.host >= 0) {
            const std::string& host_name = raw[static_cast<std::size_t>(above.host)].name;
            if (!leaf) kept.back().kind = VertexKind::host;
            const bool unnamed = kept.back().name.empty() || kept.back().kind == VertexKind::gpu;
            if (!leaf || (above.id >= 0 && unnamed)) kept.back().name = host_name;
        }
        kept.back().parent = above.id;
        kept.back().uplink = above.id < 0 ? Uplink{} : link;
    }
    return kept;
}

TreeSpec spec_below(const Tree& tree, int id) {
    const Vertex& vertex = tree.vertex(id);
    TreeSpec spec{vertex.kind, vertex.name, vertex.rank, vertex.uplink, {}};
    spec.children.reserve(vertex.children.size());
    for (const int child : vertex.children) spec.children.push_back(spec_below(tree, child));
    return spec;
}

}  // namespace

Tree Tree::assembled(std::vector<Vertex> vertices) {
    Tree tree;
    tree.vertices_ = std::move(vertices);
    tree.vertices_.shrink_to_fit();  // every rank keeps the tree of all
    auto& all = tree.vertices_;
    for (Vertex& vertex : all) {
        vertex.children.clear();
        vertex.branch = -1;
        vertex.height = 0;
        vertex.leaf_count = vertex.rank >= 0 ? 1 : 0;
    }
    for (std::size_t v = 1; v < all.size(); ++v) {
        auto& siblings = all[static_cast<std::size_t>(all[v].parent)].children;
        all[v].branch = static_cast<int>(siblings.size());
        siblings.push_back(static_cast<int>(v));
    }
    for (std::size_t v = all.size(); v-- > 1;) {  // children have higher ids than their parents
        Vertex& parent = all[static_cast<std::size_t>(all[v].parent)];
        parent.height = std::max(parent.height, all[v].height + 1);
        parent.leaf_count += all[v].leaf_count;
    }
    tree.leaf_of_rank_.resize(static_cast<std::size_t>(all.front().leaf_count));
    for (std::size_t v = 0; v < all.size(); ++v)
        if (all[v].rank >= 0)
            tree.leaf_of_rank_[static_cast<std::size_t>(all[v].rank)] = static_cast<int>(v);
    tree.find_shapes();
    tree.hash_ = Hash().text(tree.serialize()).digest();
    return tree;
}

void Tree::find_shapes() {
    for (int id = 0; id < vertex_count(); ++id) {
        Vertex& vertex = vertices_[static_cast<std::size_t>(id)];
        vertex.first_leaf = static_cast<int>(rank_at_.size());
        if (vertex.rank >= 0)
            rank_at_.push_back(vertex.rank);
        else
            inner_vertices_.push_back(id);
    }
    std::map<std::vector<int>, int> known;  // shapes of the children -> shape
    vertex_of_shape_.push_back(leaf_of_rank_.front());
    for (std::size_t i = inner_vertices_.size(); i-- > 0;) {
        Vertex& vertex = vertices_[static_cast<std::size_t>(inner_vertices_[i])];
        std::vector<int> children;
        for (const int child : vertex.children) children.push_back(this->vertex(child).shape);
        const auto next = static_cast<int>(vertex_of_shape_.size());
        const auto [shape, is_new] = known.try_emplace(std::move(children), next);
        vertex.shape = shape->second;
        if (is_new) vertex_of_shape_.push_back(inner_vertices_[i]);
    }
}

Result<Tree> Tree::make(const TreeSpec& spec) {
    Flattener flattener;
    GRADCOLL_TRY(flattener.add(spec, -1));
    if (const Status status = flattener.complete(); !status.ok())
        return Status(status.code(), "topology: " + status.message());
    return assembled(condensed(flattener.take()));
}

Tree Tree::flat(int rank_count) {
    assert(rank_count >= 1 && rank_count <= max_tree_ranks);
    std::vector<Vertex> vertices(static_cast<std::size_t>(rank_count) + 1);
    for (int rank = 0; rank < rank_count; ++rank) {
        Vertex& leaf = vertices[static_cast<std::size_t>(rank) + 1];
        leaf.kind = VertexKind::rank;
        leaf.parent = 0;
        leaf.rank = rank;
    }
    return assembled(condensed(std::move(vertices)));
}

std::vector<int> Tree::path_up(int rank) const {
    std::vector<int> path;
    for (int id = vertex(leaf_of(rank)).parent; id >= 0; id = vertex(id).parent) path.push_back(id);
    return path;
}

Result<Tree> Tree::pruned(std::span<const int> ranks) const {
    if (ranks.empty())
        return Status(Code::invalid_argument, "topology: ranks to keep: none is given");
    std::vector<int> new_rank(leaf_of_rank_.size(), -1);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const int rank = ranks[i];
        if (rank < 0 || rank >= rank_count())
            return Status(
                Code::invalid_argument,
                fmt::format("topology: rank {} to keep is unknown: the tree has ranks 0 to {}",
                            rank, rank_count() - 1));
        int& slot = new_rank[static_cast<std::size_t>(rank)];
        if (slot >= 0)
            return Status(Code::invalid_argument,
                          fmt::format("topology: rank {} to keep is given twice", rank));
        slot = static_cast<int>(i);
    }
    std::vector<Vertex> raw = vertices_;
    for (Vertex& vertex : raw)
        if (vertex.rank >= 0) vertex.rank = new_rank[static_cast<std::size_t>(vertex.rank)];
    return assembled(condensed(std::move(raw)));
}

TreeSpec Tree::spec() const {
    return spec_below(*this, root());
}

}  // namespace gradcoll
