// mover/input/tree_cluster.cpp - see tree_cluster.hpp.
#include "mover/input/tree_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gradcoll::mover {
namespace {

/// Returns the slower of two rates, ignoring one that is not known (0 or less).
double slower(double a, double b) {
    return a <= 0 ? b : (b <= 0 ? a : std::min(a, b));
}

class ClusterOfTree {
  public:
    ClusterOfTree(const Tree& tree, const std::string& origin) : tree_(tree), origin_(origin) {
        for (int rank = 0; rank < tree.rank_count(); ++rank) read_rank(tree.leaf_of(rank));
    }

    Status add_to(Document& cluster) const {
        std::int64_t per_host = 0, per_bridge = 0;
        GRADCOLL_TRY(alike(hosts_, "hosts", per_host));
        add(cluster, "devices_per_host", per_host);
        add(cluster, "tensor_gbytes_per_s", inside_);
        add(cluster, "network_gbytes_per_s", between_);
        if (latency_us_ > 0) add(cluster, "network_latency_us", latency_us_);
        if (bridges_.empty()) return {};
        GRADCOLL_TRY(alike(bridges_, "PCIe bridges", per_bridge));
        // The link of a rank that is not below a bridge would be unknown.
        if (per_bridge * static_cast<std::int64_t>(bridges_.size()) != tree_.rank_count())
            return {};
        add(cluster, "devices_per_link", per_bridge);
        add(cluster, "link_gbytes_per_s", bridge_link_);
        return {};
    }

  private:
    void read_rank(int leaf) {
        const int host = host_of(leaf);
        int bridge = -1;
        for (int vertex = leaf; vertex != host; vertex = tree_.vertex(vertex).parent) {
            if (tree_.vertex(vertex).kind == VertexKind::bridge) bridge = vertex;
            inside_ = slower(inside_, tree_.vertex(vertex).uplink.bandwidth_gbytes_per_s);
        }
        if (bridge >= 0 && note(bridges_, bridge))
            bridge_link_ = slower(bridge_link_, tree_.vertex(bridge).uplink.bandwidth_gbytes_per_s);
        if (note(hosts_, host)) read_network(host);
    }

    void read_network(int host) {
        double up_us = 0;
        for (int vertex = host; vertex != tree_.root(); vertex = tree_.vertex(vertex).parent) {
            const Vertex& at = tree_.vertex(vertex);
            between_ = slower(
                between_, at.uplink.bandwidth_gbytes_per_s / static_cast<double>(at.leaf_count));
            up_us += at.uplink.latency_us;
        }
        latency_us_ = std::max(latency_us_, 2 * up_us);
    }

    /// Returns the highest vertex above the leaf that connects no hosts. A group may also be inside
    /// a host: GPUs with links of their own.
    int host_of(int leaf) const {
        int host = leaf;
        for (int vertex = leaf; vertex >= 0; vertex = tree_.vertex(vertex).parent)
            if (!connects_hosts(tree_.vertex(vertex).kind)) host = vertex;
        return host;
    }

    /// Adds the vertex, and returns whether it is new. Ranks are read in their order, so a vertex
    /// may come again later.
    static bool note(std::vector<int>& seen, int vertex) {
        const auto at = std::lower_bound(seen.begin(), seen.end(), vertex);
        if (at != seen.end() && *at == vertex) return false;
        seen.insert(at, vertex);
        return true;
    }

    Status alike(const std::vector<int>& vertices, const char* what, std::int64_t& ranks) const {
        ranks = tree_.vertex(vertices.front()).leaf_count;
        for (const int vertex : vertices)
            if (tree_.vertex(vertex).leaf_count != ranks)
                return wrong_input(
                    origin_, "",
                    fmt::format("{} of {} and {} ranks, allowed are {} that are alike", what, ranks,
                                tree_.vertex(vertex).leaf_count, what));
        return {};
    }

    template <class Value>
    static void add(Document& cluster, const char* key, Value value) {
        if (value > 0 && !cluster.json.contains(key)) cluster.json[key] = value;
    }

    const Tree& tree_;
    const std::string& origin_;
    std::vector<int> hosts_, bridges_;  ///< vertices, ascending
    double inside_ = 0, between_ = 0, bridge_link_ = 0;
    double latency_us_ = 0;
};

}  // namespace

Status add_from_tree(const Tree& tree, const std::string& origin, Document& cluster) {
    if (!cluster.json.is_object()) return {};  // its reader says what is wrong
    return ClusterOfTree(tree, origin).add_to(cluster);
}

}  // namespace gradcoll::mover
