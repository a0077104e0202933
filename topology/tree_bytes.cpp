// topology/tree_bytes.cpp - a tree as a byte string and back; the reader trusts nothing.
#include <fmt/format.h>

#include "topology/bytes.hpp"
#include "topology/rank_ledger.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

namespace {

constexpr std::uint32_t magic = 0x52544347;  // "GCTR"
constexpr std::uint32_t version = 1;
constexpr std::size_t least_vertex_bytes = 1 + 4 + 4 + 8 + 8 + 4;

Status corrupt(const std::string& what) {
    return {Code::corrupt, "topology bytes: " + what};
}

/// TreeReader reads vertices in pre-order, with a stack of the inner vertices whose children are
/// still to come.
class TreeReader {
  public:
    explicit TreeReader(std::string_view bytes) : reader_(bytes) {}

    Result<std::vector<Vertex>> read() {
        GRADCOLL_TRY(header());
        vertices_.reserve(count_);
        do {
            GRADCOLL_TRY(vertex());
        } while (!open_.empty());
        if (vertices_.size() != count_ || reader_.size_left() != 0)
            return corrupt(fmt::format("the tree ends after {} of {} vertices with {} bytes left",
                                       vertices_.size(), count_, reader_.size_left()));
        if (const Status status = ranks_.complete(); !status.ok()) return corrupt(status.message());
        return std::move(vertices_);
    }

  private:
    struct Open {
        int id;
        std::uint32_t children_left;
    };

    Status header() {
        std::uint32_t seen_magic = 0;
        std::uint32_t seen_version = 0;
        if (!reader_.number(seen_magic) || seen_magic != magic)
            return corrupt("do not begin with GCTR");
        if (!reader_.number(seen_version) || seen_version != version)
            return corrupt(fmt::format("version {} is not {}", seen_version, version));
        if (!reader_.number(count_) || count_ == 0 ||
            count_ > reader_.size_left() / least_vertex_bytes)
            return corrupt(
                fmt::format("{} vertices do not fit in {} bytes", count_, reader_.size_left()));
        return {};
    }

    Status vertex() {
        const std::size_t id = vertices_.size();
        Vertex v;
        std::uint8_t kind = 0;
        std::uint32_t children = 0;
        auto& [bandwidth, latency] = v.uplink;
        if (!reader_.number(kind) || !reader_.number(children) || !reader_.number(v.rank) ||
            !reader_.number(bandwidth) || !reader_.number(latency) ||
            !reader_.text(v.name, max_name_bytes))
            return corrupt(fmt::format("vertex {} is cut short or its name is too long", id));
        if (kind > static_cast<std::uint8_t>(VertexKind::group))
            return corrupt(fmt::format("vertex {} has the unknown kind {}", id, kind));
        v.kind = static_cast<VertexKind>(kind);
        v.parent = open_.empty() ? -1 : open_.back().id;
        GRADCOLL_TRY(check(v, id, children));
        if (!open_.empty()) --open_.back().children_left;
        vertices_.push_back(std::move(v));
        if (children > 0) open_.push_back({static_cast<int>(id), children});
        while (!open_.empty() && open_.back().children_left == 0) open_.pop_back();
        return {};
    }

    /// Checks a vertex. Also refuses what make() would have written differently, so that equal
    /// trees have equal bytes.
    Status check(const Vertex& v, std::size_t id, std::uint32_t children) {
        const bool leaf = children == 0;
        const bool shape_ok =
            leaf ? v.rank >= 0 : children >= 2 && children < count_ - id && v.rank == -1;
        if (!shape_ok)
            return corrupt(
                fmt::format("vertex {} has rank {} and {} children", id, v.rank, children));
        if (v.kind == (leaf ? VertexKind::group : VertexKind::rank))
            return corrupt(fmt::format("vertex {} with {} children is of kind {}", id, children,
                                       name_of(v.kind)));
        if (!is_link_figure(v.uplink.bandwidth_gbytes_per_s) ||
            !is_link_figure(v.uplink.latency_us))
            return corrupt(
                fmt::format("vertex {} has an uplink that is negative or not finite", id));
        if (id == 0 && !same_link(v.uplink, {})) return corrupt("the root has an uplink");
        if (open_.size() > max_tree_depth)
            return corrupt(fmt::format("vertex {} is deeper than {} levels", id, max_tree_depth));
        if (!leaf) return {};
        const Status status = ranks_.add(v.rank);
        return status.ok() ? status : corrupt(fmt::format("vertex {}: {}", id, status.message()));
    }

    ByteReader reader_;
    std::uint32_t count_ = 0;
    std::vector<Vertex> vertices_;
    std::vector<Open> open_;
    RankLedger ranks_{-1};
};

}  // namespace

std::string Tree::serialize() const {
    ByteWriter writer;
    writer.number(magic);
    writer.number(version);
    writer.number(static_cast<std::uint32_t>(vertices_.size()));
    for (const Vertex& v : vertices_) {
        writer.number(static_cast<std::uint8_t>(v.kind));
        writer.number(static_cast<std::uint32_t>(v.children.size()));
        writer.number(v.rank);
        writer.number(v.uplink.bandwidth_gbytes_per_s);
        writer.number(v.uplink.latency_us);
        writer.text(v.name);
    }
    return writer.take();
}

Result<Tree> Tree::deserialize(std::string_view bytes) {
    std::vector<Vertex> vertices = GRADCOLL_VALUE(TreeReader(bytes).read());
    return assembled(std::move(vertices));
}

}  // namespace gradcoll
