// topology/probe/uplinks.cpp - measures all hosts of a branch against hosts beside it, and uses
// what pairs already showed.
#include "topology/probe/steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradcoll {

namespace {

constexpr std::size_t most_senders = 64;

class Uplinks {
  public:
    Uplinks(const Branches& branches, Figures& figures, int node_count)
        : branches_(branches), figures_(figures), uplinks_(static_cast<std::size_t>(node_count)) {}

    Result<std::vector<Uplink>> run(int root) {
        const std::vector<std::vector<int>> levels = branches_.levels(root);
        GRADCOLL_TRY(ask_for_latencies(levels));
        for (const auto& level : levels) GRADCOLL_TRY(fill(level));
        for (int host = 0; host < figures_.host_count(); ++host)
            of(host).bandwidth_gbytes_per_s = rate(figures_.best_of(Signal::bulk, host));
        for (auto level = levels.rbegin(); level != levels.rend(); ++level)
            for (const int vertex : *level) set_latencies(vertex);
        return std::move(uplinks_);
    }

  private:
    Uplink& of(int node) { return uplinks_[static_cast<std::size_t>(node)]; }
    /// Returns the rate for a cost in nanoseconds for each byte; 0 (not known) if that is infinite.
    static double rate(double cost) { return std::isfinite(cost) ? 1 / cost : 0; }

    /// Measures every child of a vertex with the next one: two rounds give all that is missing.
    Status ask_for_latencies(const std::vector<std::vector<int>>& levels) {
        for (const auto& level : levels) {
            std::vector<Rounds> groups;
            for (const int vertex : level) groups.push_back(neighbours(vertex));
            GRADCOLL_TRY(figures_.ask(Signal::latency, groups));
        }
        return {};
    }
    Rounds neighbours(int vertex) const {
        const std::vector<int> hosts = branches_.host_of_each(branches_.children(vertex));
        Rounds rounds(2);
        for (std::size_t i = 0; i + 1 < hosts.size(); ++i)
            rounds[i % 2].push_back({hosts[i], hosts[i + 1]});
        return rounds;
    }

    // ---- bandwidth

    /// Measures branch i of every vertex of a level at the same time.
    Status fill(const std::vector<int>& level) {
        std::size_t most = 0;
        for (const int vertex : level) most = std::max(most, branches_.children(vertex).size());
        for (std::size_t i = 0; i < most && !figures_.spent(); ++i)
            GRADCOLL_TRY(fill_branch(level, i));
        return {};
    }

    Status fill_branch(const std::vector<int>& level, std::size_t branch) {
        std::vector<int> nodes;
        std::vector<std::vector<HostPair>> groups;
        for (const int vertex : level) {
            const std::vector<int>& children = branches_.children(vertex);
            if (branch >= children.size() || branches_.is_host(children[branch])) continue;
            nodes.push_back(children[branch]);
            groups.push_back(senders(vertex, branch));
        }
        if (groups.empty()) return {};
        const std::vector<double> rates = GRADCOLL_VALUE(figures_.rates_together(groups));
        for (std::size_t i = 0; i < nodes.size(); ++i)
            of(nodes[i]).bandwidth_gbytes_per_s = rates[i];
        return {};
    }

    /// Returns pairs of a host of the branch and a host beside it, of the neighbouring branches in
    /// turn, so that no single one of their links has to carry all.
    std::vector<HostPair> senders(int vertex, std::size_t branch) const {
        const std::vector<int>& children = branches_.children(vertex);
        std::vector<std::vector<int>> beside;
        for (std::size_t i = 0; i < children.size(); ++i)
            if (i != branch) beside.push_back(branches_.hosts_below(children[i]));
        const std::vector<int> from = branches_.hosts_below(children[branch]);
        std::vector<HostPair> pairs;
        std::size_t longest = 0;
        for (const auto& hosts : beside) longest = std::max(longest, hosts.size());
        for (std::size_t depth = 0; depth < longest; ++depth)
            for (const auto& hosts : beside) {
                if (pairs.size() == std::min(from.size(), most_senders)) return pairs;
                if (depth < hosts.size()) pairs.push_back({from[pairs.size()], hosts[depth]});
            }
        return pairs;
    }

    // ---- latency

    /// Returns the latency from a host below `vertex` up to it: half of the shortest way between
    /// two children.
    double reach(int vertex) const {
        if (branches_.is_host(vertex)) return 0;
        const std::vector<int> hosts = branches_.host_of_each(branches_.children(vertex));
        double shortest = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i + 1 < hosts.size(); ++i)
            if (const Cost* cost = figures_.find(Signal::latency, hosts[i], hosts[i + 1]))
                shortest = std::min(shortest, cost->low);
        return std::isfinite(shortest) ? shortest / 2 : 0;
    }
    void set_latencies(int vertex) {
        const double here = reach(vertex);
        for (const int child : branches_.children(vertex))
            of(child).latency_us = std::max(0.0, here - reach(child));
    }

    const Branches& branches_;
    Figures& figures_;
    std::vector<Uplink> uplinks_;
};

}  // namespace

Result<std::vector<Uplink>> measured_uplinks(const Branches& branches, Figures& figures, int root,
                                             int node_count) {
    return Uplinks(branches, figures, node_count).run(root);
}

}  // namespace gradcoll
