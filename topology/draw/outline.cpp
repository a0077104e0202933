// topology/draw/outline.cpp - finds shapes from the leaves up, then entries from the root down.
#include "topology/draw/outline.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "topology/draw/words.hpp"

namespace gradcoll {

namespace {

template <class T>
void append_bytes(std::string& key, const T& value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    key.append(bytes, sizeof value);
}

std::string key_of(const Vertex& vertex, const std::vector<std::uint32_t>& shapes) {
    std::string key;
    append_bytes(key, vertex.kind);
    append_bytes(key, vertex.uplink.bandwidth_gbytes_per_s);
    append_bytes(key, vertex.uplink.latency_us);
    std::vector<std::uint32_t> below;
    for (const int child : vertex.children)
        below.push_back(shapes[static_cast<std::size_t>(child)]);
    std::sort(below.begin(), below.end());
    append_bytes(key, below.size());
    for (const std::uint32_t shape : below) append_bytes(key, shape);
    return key + name_without_numbers(vertex.name);
}

/// Outliner adds the entries in pre-order.
class Outliner {
  public:
    Outliner(const Tree& tree, const OutlineLimits& limits)
        : tree_(tree), limits_(limits), shapes_(shapes_of(tree)) {}

    Outline take() {
        add({tree_.root()}, -1);
        return std::move(outline_);
    }

  private:
    void add(std::vector<int> members, int parent) {
        const int entry = static_cast<int>(outline_.entries.size());
        OutlineEntry made;
        made.parent = parent;
        made.members = std::move(members);
        if (parent >= 0) {
            OutlineEntry& above = outline_.entries[static_cast<std::size_t>(parent)];
            made.depth = above.depth + 1;
            made.inside_fold = above.inside_fold || above.copies() > 1;
            above.children.push_back(entry);
        }
        const Vertex& vertex = tree_.vertex(made.vertex());
        outline_.entries.push_back(std::move(made));
        outline_.left_out.push_back(0);
        if (vertex.height > limits_.cut_height) add_below(vertex, entry);
    }

    void add_below(const Vertex& vertex, int entry) {
        int room = limits_.max_children > 0 ? limits_.max_children : -1;
        for (std::vector<int>& group : groups_of(vertex)) {
            if (room == 0) {
                outline_.left_out[static_cast<std::size_t>(entry)] +=
                    static_cast<int>(group.size());
                continue;
            }
            if (room > 0) --room;
            add(std::move(group), entry);
        }
    }

    /// Groups alike children, each group at the place of its first member.
    std::vector<std::vector<int>> groups_of(const Vertex& vertex) const {
        std::vector<std::vector<int>> groups;
        std::unordered_map<std::uint32_t, std::size_t> group_of;
        for (const int child : vertex.children) {
            const auto shape = shapes_[static_cast<std::size_t>(child)];
            const auto [found, fresh] = group_of.try_emplace(shape, groups.size());
            if (fresh) groups.emplace_back();
            groups[found->second].push_back(child);
        }
        return groups;
    }

    const Tree& tree_;
    const OutlineLimits& limits_;
    std::vector<std::uint32_t> shapes_;
    Outline outline_;
};

}  // namespace

std::vector<std::uint32_t> shapes_of(const Tree& tree) {
    std::vector<std::uint32_t> shapes(static_cast<std::size_t>(tree.vertex_count()));
    std::unordered_map<std::string, std::uint32_t> known;
    for (int id = tree.vertex_count() - 1; id >= 0; --id) {  // children come after their parents
        const auto fresh = static_cast<std::uint32_t>(known.size());
        shapes[static_cast<std::size_t>(id)] =
            known.try_emplace(key_of(tree.vertex(id), shapes), fresh).first->second;
    }
    return shapes;
}

Outline outline_of(const Tree& tree, const OutlineLimits& limits) {
    return Outliner(tree, limits).take();
}

std::vector<int> ranks_of(const Tree& tree, const OutlineEntry& entry) {
    std::vector<int> ranks;
    for (const int member : entry.members) {
        const auto wanted = ranks.size() + static_cast<std::size_t>(tree.vertex(member).leaf_count);
        for (int id = member; ranks.size() < wanted; ++id)  // a subtree is a run of ids
            if (tree.is_leaf(id)) ranks.push_back(tree.vertex(id).rank);
    }
    if (!tree.is_leaf(entry.vertex())) std::sort(ranks.begin(), ranks.end());
    return ranks;
}

}  // namespace gradcoll
