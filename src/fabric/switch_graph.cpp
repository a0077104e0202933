#include "fabric/switch_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "fabric/disjoint_sets.hpp"

namespace gradcoll {
namespace {

std::uint64_t pair_key(int a, int b) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 |
           static_cast<std::uint32_t>(b);
}

/// GraphBuilder makes a SwitchGraph step by step, in the order in which build() calls the steps.
class GraphBuilder {
  public:
    explicit GraphBuilder(const Fabric& fabric)
        : fabric_(fabric), places_(fabric.nodes.size()), rails_(fabric.nodes.size()) {}

    Result<SwitchGraph> build() {
        GRADCOLL_TRY(sort_cables());
        if (fabric_.rooted) {
            GRADCOLL_TRY(find_heights());
            keep_lowest_places();
        }
        join_rails();
        number_vertices();
        place_hosts();
        link_vertices();
        graph_.index_links();
        return std::move(graph_);
    }

  private:
    bool is_host(int node) const { return fabric_.nodes[at(node)].is_host; }
    const std::string& name(int node) const { return fabric_.nodes[at(node)].name; }

    /// Assigns the cables of hosts to the hosts, one entry for each switch.
    Status sort_cables() {
        int between_hosts = 0;
        for (const Fabric::Cable& cable : fabric_.cables) {
            const int count = static_cast<int>(fabric_.nodes.size());
            if (cable.a < 0 || cable.a >= count || cable.b < 0 || cable.b >= count)
                return {Code::invalid_argument,
                        "a cable of the fabric ends at a node that is not "
                        "there: " +
                            std::to_string(cable.a) + " - " + std::to_string(cable.b)};
            const bool a_is_host = is_host(cable.a), b_is_host = is_host(cable.b);
            const Uplink speed = {cable.gbytes_per_s, cable.latency_us};
            if (a_is_host && b_is_host)
                ++between_hosts;
            else if (a_is_host)
                places_[at(cable.a)].push_back({cable.b, speed});
            else if (b_is_host)
                places_[at(cable.b)].push_back({cable.a, speed});
            else if (cable.a != cable.b || fabric_.rooted)
                switch_cables_.push_back(&cable);
        }
        for (std::vector<SwitchGraph::Place>& places : places_) merge_places(places);
        if (between_hosts > 0)
            graph_.notes.push_back(std::to_string(between_hosts) +
                                   " cables lead from host to host and are left out");
        return {};
    }

    /// Finds the longest way down from each switch, by removing switches that have nothing left
    /// below them.
    Status find_heights() {
        std::vector<std::vector<int>> above(fabric_.nodes.size());
        std::vector<int> below_left(fabric_.nodes.size(), 0);
        for (const Fabric::Cable* cable : switch_cables_) {
            above[at(cable->b)].push_back(cable->a);
            ++below_left[at(cable->a)];
        }
        height_.assign(fabric_.nodes.size(), 0);
        std::vector<int> done;
        for (std::size_t node = 0; node < below_left.size(); ++node)
            if (below_left[node] == 0) done.push_back(static_cast<int>(node));
        for (std::size_t next = 0; next < done.size(); ++next)
            for (const int upper : above[at(done[next])]) {
                height_[at(upper)] = std::max(height_[at(upper)], height_[at(done[next])] + 1);
                if (--below_left[at(upper)] == 0) done.push_back(upper);
            }
        return done.size() == fabric_.nodes.size() ? Status() : cycle(below_left);
    }

    /// Finds a cycle: every switch that is left has one below it that is left, too, so a walk down
    /// ends in a cycle.
    Status cycle(const std::vector<int>& below_left) const {
        std::vector<int> below(fabric_.nodes.size(), -1);
        int node = -1;
        for (const Fabric::Cable* cable : switch_cables_)
            if (below_left[at(cable->a)] > 0 && below_left[at(cable->b)] > 0)
                below[at(node = cable->a)] = cable->b;
        for (std::size_t steps = 0; steps < below.size(); ++steps) node = below[at(node)];
        const int somewhere = node;
        for (int next = below[at(somewhere)]; next != somewhere; next = below[at(next)])
            node = std::min(node, next);
        std::string names = printable(name(node));
        int listed = 1;
        for (int next = below[at(node)]; next != node && ++listed <= 8; next = below[at(next)])
            names += " -> " + printable(name(next));
        return {Code::invalid_argument,
                "the switches run in a cycle, each above the next: " + names + " -> " +
                    (listed > 8 ? "..." : printable(name(node)))};
    }

    void keep_lowest_places() {
        for (std::vector<SwitchGraph::Place>& places : places_) {
            int lowest = INT32_MAX;
            for (const auto& place : places) lowest = std::min(lowest, height_[at(place.vertex)]);
            std::erase_if(places,
                          [&](const auto& place) { return height_[at(place.vertex)] > lowest; });
        }
    }

    /// Joins rails. Counts shared hosts between neighbours in each host's sorted list of switches:
    /// hosts with the same rails count for the same pairs, and the work stays linear.
    void join_rails() {
        std::unordered_map<std::uint64_t, int> shared;
        std::vector<int> hosts_on(fabric_.nodes.size(), 0);
        for (const std::vector<SwitchGraph::Place>& places : places_)
            for (std::size_t i = 0; i < places.size(); ++i) {
                ++hosts_on[at(places[i].vertex)];
                if (i > 0) ++shared[pair_key(places[i - 1].vertex, places[i].vertex)];
            }
        for (const auto& [key, count] : shared) {
            const int a = static_cast<int>(key >> 32), b = static_cast<int>(key & 0xffffffffU);
            if (2 * count >= std::max(hosts_on[at(a)], hosts_on[at(b)])) rails_.join(a, b);
        }
    }

    void number_vertices() {
        vertex_of_.assign(fabric_.nodes.size(), -1);
        for (int node = 0; node < static_cast<int>(fabric_.nodes.size()); ++node) {
            if (is_host(node)) continue;
            const int first = rails_.find(node);
            if (first == node) {
                vertex_of_[at(node)] = static_cast<int>(graph_.members.size());
                graph_.members.emplace_back();
            }
            vertex_of_[at(node)] = vertex_of_[at(first)];
            graph_.members[at(vertex_of_[at(node)])].push_back(node);
        }
        graph_.host_count.assign(graph_.size(), 0);
    }

    void place_hosts() {
        for (int node = 0; node < static_cast<int>(fabric_.nodes.size()); ++node) {
            if (!is_host(node)) continue;
            std::vector<SwitchGraph::Place> places = std::move(places_[at(node)]);
            for (SwitchGraph::Place& place : places) place.vertex = vertex_of_[at(place.vertex)];
            merge_places(places);
            for (const SwitchGraph::Place& place : places) ++graph_.host_count[at(place.vertex)];
            graph_.hosts.push_back({node, std::move(places)});
        }
    }

    void link_vertices() {
        std::unordered_map<std::uint64_t, int> link_of;
        for (const Fabric::Cable* cable : switch_cables_) {
            int a = vertex_of_[at(cable->a)], b = vertex_of_[at(cable->b)];
            if (a == b) continue;
            if (!fabric_.rooted && a > b) std::swap(a, b);
            const auto [place, is_new] =
                link_of.try_emplace(pair_key(a, b), static_cast<int>(graph_.links.size()));
            if (is_new) graph_.links.push_back({a, b, 0, {}});
            SwitchGraph::Link& link = graph_.links[at(place->second)];
            ++link.cables;
            add_parallel(link.speed, {cable->gbytes_per_s, cable->latency_us});
        }
    }

    const Fabric& fabric_;
    std::vector<const Fabric::Cable*> switch_cables_;
    std::vector<std::vector<SwitchGraph::Place>> places_;  ///< by host node; ordered by switch node
    std::vector<int> height_;
    DisjointSets rails_;
    std::vector<int> vertex_of_;  ///< by switch node
    SwitchGraph graph_;
};

}  // namespace

void add_parallel(Uplink& sum, const Uplink& more) {
    // Figures come from texts: even absurd ones must not add up to infinity.
    sum.bandwidth_gbytes_per_s = std::min(sum.bandwidth_gbytes_per_s + more.bandwidth_gbytes_per_s,
                                          std::numeric_limits<double>::max());
    sum.latency_us = std::max(sum.latency_us, more.latency_us);
}

void merge_places(std::vector<SwitchGraph::Place>& places) {
    std::stable_sort(places.begin(), places.end(),
                     [](const auto& x, const auto& y) { return x.vertex < y.vertex; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < places.size(); ++i) {
        if (places[i].vertex == places[kept].vertex)
            add_parallel(places[kept].speed, places[i].speed);
        else
            places[++kept] = places[i];
    }
    if (!places.empty()) places.resize(kept + 1);
}

void SwitchGraph::index_links() {
    first_.assign(size() + 1, 0);
    for (const Link& link : links) {
        ++first_[at(link.a) + 1];
        ++first_[at(link.b) + 1];
    }
    for (std::size_t v = 0; v < size(); ++v) first_[v + 1] += first_[v];
    neighbours_.resize(2 * links.size());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (int l = 0; l < static_cast<int>(links.size()); ++l) {
        const Link& link = links[at(l)];
        neighbours_[next[at(link.a)]++] = {link.b, l};
        neighbours_[next[at(link.b)]++] = {link.a, l};
    }
}

Result<SwitchGraph> switch_graph(const Fabric& fabric) {
    return GraphBuilder(fabric).build();
}

}  // namespace gradcoll
