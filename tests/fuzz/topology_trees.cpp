#include "fuzz/topology_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fabric/switch_tree.hpp"
#include "fuzz/promises.hpp"

namespace gradcoll::fuzz {
namespace {

bool is_figure(double value) {
    return std::isfinite(value) && value >= 0;
}
bool is_link(const Uplink& uplink) {
    return is_figure(uplink.bandwidth_gbytes_per_s) && is_figure(uplink.latency_us);
}

void must_be_a_leaf(const Tree& tree, int id, std::string_view text) {
    const Vertex& vertex = tree.vertex(id);
    must(vertex.children.empty() && vertex.height == 0 && vertex.leaf_count == 1,
         "a leaf has nothing below", text);
    must(vertex.rank < tree.rank_count() && tree.leaf_of(vertex.rank) == id,
         "a rank is found at its leaf", text);
}

void must_be_an_inner_vertex(const Tree& tree, int id, std::string_view text) {
    const Vertex& vertex = tree.vertex(id);
    must(vertex.children.size() >= 2, "an inner vertex has two children or more", text);
    int height = 0, leaves = 0, branch = 0;
    for (const int child : vertex.children) {
        must(child > id && child < tree.vertex_count(), "children stand behind parents", text);
        const Vertex& below = tree.vertex(child);
        must(below.parent == id && below.branch == branch++, "children know their place", text);
        height = std::max(height, below.height + 1);
        leaves += below.leaf_count;
    }
    must(vertex.height == height && vertex.leaf_count == leaves, "heights and counts agree", text);
}

std::vector<HostSubtree> one_rank_a_host(const Fabric& fabric) {
    std::vector<std::string> names;
    for (const Fabric::Node& node : fabric.nodes)
        if (node.is_host) names.push_back(node.name);
    names.emplace_back("a host that no source knows");
    std::vector<HostSubtree> hosts;
    for (std::string& name : names) {
        const int rank = static_cast<int>(hosts.size());
        TreeSpec host{VertexKind::host, std::move(name), -1, {}, {}};
        host.children.push_back({VertexKind::rank, "", rank, {}, {}});
        hosts.push_back({rank, std::move(host)});
    }
    return hosts;
}

}  // namespace

void must_be_a_tree(const Tree& tree, std::string_view text) {
    must(tree.vertex_count() > 0 && tree.vertex(0).parent == -1, "the root is the first", text);
    must(tree.vertex(0).leaf_count == tree.rank_count(), "all ranks are below the root", text);
    for (int id = 0; id < tree.vertex_count(); ++id) {
        must(is_link(tree.vertex(id).uplink), "links are finite and not negative", text);
        if (tree.is_leaf(id))
            must_be_a_leaf(tree, id, text);
        else
            must_be_an_inner_vertex(tree, id, text);
    }
    const std::string bytes = tree.serialize();
    const Result<Tree> again = Tree::deserialize(bytes);
    must(again.ok() && again->serialize() == bytes && again->hash() == tree.hash(),
         "the bytes of a tree read back", text);
}

bool becomes_a_tree(const Fabric& fabric, std::string_view text) {
    const auto is_node = [&](int i) { return i >= 0 && i < static_cast<int>(fabric.nodes.size()); };
    for (const Fabric::Cable& cable : fabric.cables) {
        must(is_node(cable.a) && is_node(cable.b), "cables join nodes", text);
        must(is_link({cable.gbytes_per_s, cable.latency_us}), "cables have figures", text);
    }
    std::vector<std::string> notes = fabric.notes;
    const Result<SwitchTree> switches = switch_tree(fabric);
    if (!accepted(switches.status(), text)) return false;
    notes.insert(notes.end(), switches->notes.begin(), switches->notes.end());
    const Result<Tree> tree = Tree::make(hang_hosts(*switches, one_rank_a_host(fabric), notes));
    if (!tree.ok())
        broken(fmt::format("a fabric becomes a tree: {}", tree.status().message()), text);
    must_be_a_tree(*tree, text);
    for (const std::string& note : notes) must_be_a_message(note, text);
    return true;
}

}  // namespace gradcoll::fuzz
