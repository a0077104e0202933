// tests/topology/probe_fabric.hpp - a simulated network that answers a probe, with noise: pairs
// that are measured at the same time share their links fairly.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fabric/switch_tree.hpp"
#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// Noise is relative: 0.05 is a twentieth. It only makes figures slower, as in real networks.
struct Noise {
    double jitter = 0;          ///< mean of an exponentially distributed surplus of each figure
    double outlier_chance = 0;  ///< probability of a figure that is 2 to 10 times too large
    double busy_chance = 0;     ///< probability of one that is 1 to 4 times too large, and says so
};

/// A Network is switches and hosts, each with a link to its parent. Host i is node `host_nodes[i]`.
struct Network {
    struct Node {
        int parent = -1;
        Uplink uplink;
    };
    std::vector<Node> nodes;
    std::vector<int> host_nodes;

    int add(int parent, Uplink uplink) {
        nodes.push_back({parent, uplink});
        return static_cast<int>(nodes.size()) - 1;
    }
    void add_host(int parent, Uplink uplink) { host_nodes.push_back(add(parent, uplink)); }
    int host_count() const { return static_cast<int>(host_nodes.size()); }
    void shuffle(std::mt19937& random) {
        std::shuffle(host_nodes.begin(), host_nodes.end(), random);
    }
};

/// HostSets lists which hosts are below one switch, for every switch with two branches or more that
/// does not have all of them: equal for equal trees.
using HostSets = std::set<std::vector<int>>;

inline HostSets host_sets(const std::vector<int>& parent_of_node,
                          const std::vector<int>& node_of_host) {
    std::vector<std::vector<int>> below(parent_of_node.size());
    for (std::size_t host = 0; host < node_of_host.size(); ++host)
        for (int node = node_of_host[host]; node >= 0;
             node = parent_of_node[static_cast<std::size_t>(node)])
            below[static_cast<std::size_t>(node)].push_back(static_cast<int>(host));
    HostSets sets;
    for (const auto& hosts : below)
        if (hosts.size() > 1 && hosts.size() < node_of_host.size()) sets.insert(hosts);
    return sets;
}
inline HostSets host_sets(const Network& network) {
    std::vector<int> parents;
    for (const auto& node : network.nodes) parents.push_back(node.parent);
    return host_sets(parents, network.host_nodes);
}
/// Makes the sets of a tree whose hosts are named by their number.
inline HostSets host_sets(const SwitchTree& tree) {
    std::vector<int> parents;
    std::vector<int> nodes;
    for (const auto& one : tree.switches) parents.push_back(one.parent);
    for (std::size_t i = 0; i < tree.hosts.size(); ++i)
        nodes.push_back(tree.hosts.at(std::to_string(i)).at);
    return host_sets(parents, nodes);
}

class SimulatedRuler : public Ruler {
  public:
    SimulatedRuler(const Network& network, Noise noise, unsigned seed)
        : network_(network), noise_(noise), random_(seed) {}

    Result<std::vector<Measured>> measure(Signal signal, std::span<const HostPair> pairs) override {
        ++rounds;
        if (signal != Signal::latency) ++bulk_rounds;
        std::vector<Measured> measured;
        for (const double figure :
             signal == Signal::latency ? latencies(pairs) : bulk_costs(pairs)) {
            const bool busy = signal != Signal::latency && is_busy();
            const double times = busy ? std::uniform_real_distribution<double>(1, 4)(random_) : 1;
            measured.push_back({figure * times * disturbance(), busy});
        }
        return measured;
    }
    bool spent() const override { return rounds >= most_rounds; }

    int rounds = 0;
    int bulk_rounds = 0;
    int most_rounds = std::numeric_limits<int>::max();

  private:
    bool is_busy() {
        return noise_.busy_chance > 0 &&
               std::uniform_real_distribution<double>(0, 1)(random_) < noise_.busy_chance;
    }
    double disturbance() {
        double factor = 1;
        if (noise_.jitter > 0)
            factor += std::exponential_distribution<double>(1 / noise_.jitter)(random_);
        if (std::uniform_real_distribution<double>(0, 1)(random_) < noise_.outlier_chance)
            factor *= std::uniform_real_distribution<double>(2, 10)(random_);
        return factor;
    }

    /// Returns the links on the way: node n's link up is 2n, down 2n + 1.
    std::vector<std::size_t> way(HostPair pair) const {
        const auto upward = [&](int host) {
            std::vector<int> nodes;
            for (int n = network_.host_nodes[static_cast<std::size_t>(host)]; n >= 0;
                 n = network_.nodes[static_cast<std::size_t>(n)].parent)
                nodes.push_back(n);
            return nodes;
        };
        std::vector<int> from = upward(pair.from);
        std::vector<int> to = upward(pair.to);
        while (!from.empty() && !to.empty() && from.back() == to.back()) {
            from.pop_back();
            to.pop_back();
        }
        std::vector<std::size_t> links;
        for (const int n : from) links.push_back(2 * static_cast<std::size_t>(n));
        for (const int n : to) links.push_back(2 * static_cast<std::size_t>(n) + 1);
        return links;
    }
    const Uplink& uplink(std::size_t link) const { return network_.nodes[link / 2].uplink; }

    std::vector<double> latencies(std::span<const HostPair> pairs) const {
        std::vector<double> sums;
        for (const HostPair pair : pairs) {
            double sum = 0;
            for (const std::size_t link : way(pair)) sum += uplink(link).latency_us;
            sums.push_back(sum);
        }
        return sums;
    }

    /// Returns max-min fair costs: the link with the smallest share for each of its pairs decides
    /// on these first.
    std::vector<double> bulk_costs(std::span<const HostPair> pairs) const {
        const std::size_t link_count = 2 * network_.nodes.size();
        std::vector<std::vector<std::size_t>> users(link_count);
        std::vector<std::vector<std::size_t>> ways;
        std::vector<double> left(link_count);
        for (std::size_t link = 0; link < link_count; ++link)
            left[link] = uplink(link).bandwidth_gbytes_per_s;
        std::vector<std::size_t> used;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            ways.push_back(way(pairs[i]));
            for (const std::size_t link : ways.back()) {
                if (users[link].empty()) used.push_back(link);
                users[link].push_back(i);
            }
        }
        std::vector<double> rate(pairs.size(), 0);
        for (std::size_t decided = 0; decided < pairs.size();) {
            const std::size_t tight =
                *std::min_element(used.begin(), used.end(), [&](std::size_t x, std::size_t y) {
                    return share(left[x], users[x], rate) < share(left[y], users[y], rate);
                });
            const double each = share(left[tight], users[tight], rate);
            for (const std::size_t user : users[tight]) {
                if (rate[user] > 0) continue;
                rate[user] = each;
                ++decided;
                for (const std::size_t link : ways[user]) left[link] -= each;
            }
        }
        for (double& r : rate) r = 1 / r;
        return rate;
    }
    static double share(double left, const std::vector<std::size_t>& users,
                        const std::vector<double>& rate) {
        const auto open = std::count_if(users.begin(), users.end(),
                                        [&](std::size_t user) { return rate[user] == 0; });
        return open == 0 ? std::numeric_limits<double>::infinity()
                         : std::max(left, 1e-9) / static_cast<double>(open);
    }

    const Network& network_;
    Noise noise_;
    std::mt19937 random_;
};

inline std::vector<std::string> numbered_names(int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(std::to_string(i));
    return names;
}

}  // namespace gradcoll
