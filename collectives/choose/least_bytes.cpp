#include "collectives/choose/least_bytes.hpp"

#include <algorithm>

#include "collectives/choose/exchange_choice.hpp"

namespace gradcoll {
namespace {

bool is_slow_between_hosts(const Tree& tree, int vertex) {
    const Vertex& branch = tree.vertex(vertex);
    const double rate = branch.uplink.bandwidth_gbytes_per_s;
    return rate > 0 && rate < slow_link_gbytes_per_s &&
           connects_hosts(tree.vertex(branch.parent).kind);
}

}  // namespace

std::uint64_t least_tree_bytes_on(const Tree& tree) {
    const auto inner = tree.inner_vertices();
    // In a ring a vector waits for one message after another.
    const bool in_a_ring = std::any_of(
        inner.begin(), inner.end(), [&](int vertex) { return is_unknown_network(tree, vertex); });
    bool slow = false;
    for (int vertex = 1; vertex < tree.vertex_count(); ++vertex)
        slow = slow || is_slow_between_hosts(tree, vertex);
    return slow && !in_a_ring ? slow_links_least_tree_bytes : usual_least_tree_bytes;
}

}  // namespace gradcoll
