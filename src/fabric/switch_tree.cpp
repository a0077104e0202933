#include "fabric/switch_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "fabric/host_list.hpp"
#include "fabric/switch_graph.hpp"
#include "fabric/switch_levels.hpp"

namespace gradcoll {
namespace {

using Place = SwitchGraph::Place;

/// A virtual switch with a longer list of members is named after its first and last member.
constexpr std::size_t longest_list = 100;

std::string virtual_name(std::vector<std::string> members) {
    std::sort(members.begin(), members.end(), natural_less);
    if (members.size() == 1) return members.front();
    const std::string list = host_list_of(members);
    if (list.size() <= longest_list) return list;
    return printable(members.front()) + " ... " + printable(members.back()) + " (" +
           std::to_string(members.size()) + " switches)";
}

/// TreeOfSwitches numbers the vertices of the graph first (a set of joined vertices goes by its
/// lowest), then one above each part, then one above all. Added vertices that hold a single branch
/// are dropped in the end.
class TreeOfSwitches {
  public:
    TreeOfSwitches(const Fabric& fabric, SwitchGraph graph, SwitchLevels levels)
        : fabric_(fabric),
          graph_(std::move(graph)),
          levels_(std::move(levels)),
          switches_(virtual_switches(graph_, levels_, fabric.rooted)),
          top_(static_cast<int>(graph_.size()) + levels_.part_count),
          vertices_(graph_.size() + at(levels_.part_count) + 1) {}

    SwitchTree build() {
        result_.by_rank = fabric_.by_rank;
        result_.notes = fabric_.notes;
        result_.notes.insert(result_.notes.end(), graph_.notes.begin(), graph_.notes.end());
        find_ways_up();
        hang_parts();
        hang_switches();
        place_hosts();
        number_vertices();
        write_switches();
        write_hosts();
        return std::move(result_);
    }

  private:
    struct Vertex {
        int parent = -1;
        int depth = 0;
        Uplink uplink;
        std::vector<Place> ways;  ///< one to each upper neighbour
        int below = 0;            ///< switches and hosts right below
        int hosts = 0;            ///< hosts among these
        int number = -1;          ///< index in the result
    };

    Vertex& vertex(int v) { return vertices_[at(v)]; }
    int set(int v) { return switches_.one.find(v); }
    bool is_in_tree(int v) { return switches_.leads[at(set(v))]; }
    bool is_added(int v) const { return v >= static_cast<int>(graph_.size()); }
    int above_part(int v) const { return static_cast<int>(graph_.size()) + levels_.part[at(v)]; }

    void note(int count, const std::string& what) {
        if (count > 0) result_.notes.push_back(std::to_string(count) + " " + what);
    }

    void find_ways_up() {
        int left_out = 0;
        for (const SwitchGraph::Link& link : graph_.links) {
            if (!is_in_tree(link.a) || !is_in_tree(link.b) || set(link.a) == set(link.b)) continue;
            const int level_a = switches_.level[at(link.a)], level_b = switches_.level[at(link.b)];
            if (level_a + 1 == level_b)
                vertex(set(link.b)).ways.push_back({set(link.a), link.speed});
            else if (level_b + 1 == level_a)
                vertex(set(link.a)).ways.push_back({set(link.b), link.speed});
            else if (level_a == 0 && level_b == 0)
                for (const int end : {link.a, link.b})
                    vertex(set(end)).ways.push_back({above_part(end), link.speed});
            else
                left_out += link.cables;
        }
        note(left_out, "cables between switches of one level, or past a level, are left out");
    }

    void hang(int v, int parent, const Uplink& uplink) {
        vertex(v).parent = parent;
        vertex(v).depth = vertex(parent).depth + 1;
        vertex(v).uplink = uplink;
        ++vertex(parent).below;
    }

    void hang_parts() {
        for (int part = 0; part < levels_.part_count; ++part)
            hang(static_cast<int>(graph_.size()) + part, top_, {});
    }

    void hang_switches() {
        for (int v = 0; v < static_cast<int>(graph_.size()); ++v)
            if (set(v) == v && is_in_tree(v)) order_.push_back(v);
        std::stable_sort(order_.begin(), order_.end(), [&](int x, int y) {
            return switches_.level[at(x)] < switches_.level[at(y)];
        });
        for (const int v : order_) {
            std::vector<Place>& ways = vertex(v).ways;
            if (switches_.level[at(v)] == 0 && ways.empty()) ways = {{above_part(v), {}}};
            merge_places(ways);
            const Place above = meeting(ways);
            hang(v, above.vertex, above.speed);
        }
    }

    /// Returns where several ways up meet, and what they carry there together.
    Place meeting(const std::vector<Place>& ways) {
        Place result = ways.front();
        if (ways.size() == 1) return result;
        for (const Place& way : ways) result.vertex = common_ancestor(result.vertex, way.vertex);
        result.speed = {};
        for (const Place& way : ways) add_parallel(result.speed, way_up(way, result.vertex));
        return result;
    }

    int common_ancestor(int x, int y) {
        while (x != y) {
            int& lower = vertex(x).depth >= vertex(y).depth ? x : y;
            lower = vertex(lower).parent;
        }
        return x;
    }

    /// Returns the slowest known bandwidth and the summed latency.
    Uplink way_up(const Place& way, int ancestor) {
        Uplink result = way.speed;
        for (int v = way.vertex; v != ancestor; v = vertex(v).parent) {
            const Uplink& next = vertex(v).uplink;
            double& bandwidth = result.bandwidth_gbytes_per_s;
            if (next.bandwidth_gbytes_per_s > 0)
                bandwidth = bandwidth > 0 ? std::min(bandwidth, next.bandwidth_gbytes_per_s)
                                          : next.bandwidth_gbytes_per_s;
            result.latency_us =
                std::min(result.latency_us + next.latency_us, std::numeric_limits<double>::max());
        }
        return result;
    }

    void place_hosts() {
        int alone = 0;
        std::vector<std::string> apart;
        for (const SwitchGraph::Host& host : graph_.hosts) {
            std::vector<Place> ways = host.places;
            for (Place& way : ways) way.vertex = set(way.vertex);
            merge_places(ways);
            if (ways.empty()) ++alone;
            places_.push_back(ways.empty() ? Place{top_, {}} : meeting(ways));
            const int place = places_.back().vertex;
            ++vertex(place).below;
            ++vertex(place).hosts;
            if (ways.size() > 1 && is_added(place))
                apart.push_back(fabric_.nodes[at(host.node)].name);
        }
        note(alone, "hosts have no cable to a switch and hang on top");
        if (apart.empty()) return;
        result_.notes.push_back(
            hosts_in_words(apart) +
            (apart.size() == 1
                 ? " is on several switches that nothing joins, and hangs above them"
                 : " are on several switches that nothing joins, and hang above them"));
    }

    /// Returns whether the vertex was added and has a single branch, so that it is left out.
    bool is_passed_over(int v) const {
        return is_added(v) && vertices_[at(v)].below == 1 && levels_.part_count > 0;
    }

    void number_vertices() {
        std::vector<int> all = {top_};
        for (int part = 0; part < levels_.part_count; ++part)
            all.push_back(static_cast<int>(graph_.size()) + part);
        all.insert(all.end(), order_.begin(), order_.end());
        std::erase_if(all, [&](int v) { return is_passed_over(v); });
        order_ = std::move(all);
        for (std::size_t number = 0; number < order_.size(); ++number)
            vertex(order_[number]).number = static_cast<int>(number);
    }

    /// Returns the next kept one above; -1 for the root.
    int number_above(int v) {
        int above = vertex(v).parent;
        while (above >= 0 && vertex(above).number < 0) above = vertex(above).parent;
        return above < 0 ? -1 : vertex(above).number;
    }

    void write_switches() {
        std::vector<std::vector<std::string>> members(vertices_.size());
        for (int v = 0; v < static_cast<int>(graph_.size()); ++v)
            for (const int node : graph_.members[at(v)])
                members[at(set(v))].push_back(fabric_.nodes[at(node)].name);
        for (const int v : order_) {
            SwitchTree::Switch written = {"", number_above(v), {}};
            if (!is_added(v)) written.name = virtual_name(std::move(members[at(v)]));
            const bool below_added = v != top_ && is_passed_over(vertex(v).parent);
            if (!below_added) written.uplink = vertex(v).uplink;
            result_.switches.push_back(std::move(written));
        }
        note_added();
    }

    void note_added() {
        const auto below_one_more = [&](int v, const std::string& what) {
            if (vertex(v).number >= 0) note(vertex(v).below - vertex(v).hosts, what);
        };
        for (int part = 0; part < levels_.part_count; ++part)
            below_one_more(static_cast<int>(graph_.size()) + part,
                           fabric_.rooted
                               ? "switches have nothing above them and hang below one more vertex"
                               : "switches are in the middle and hang below one more vertex");
        if (levels_.part_count > 1)
            below_one_more(top_, "parts that no cable connects hang below one more vertex");
    }

    void write_hosts() {
        for (std::size_t h = 0; h < places_.size(); ++h) {
            const Place& place = places_[h];
            result_.hosts.emplace(fabric_.nodes[at(graph_.hosts[h].node)].name,
                                  SwitchTree::Host{vertex(place.vertex).number, place.speed});
        }
    }

    const Fabric& fabric_;
    SwitchGraph graph_;
    SwitchLevels levels_;
    VirtualSwitches switches_;
    int top_;
    std::vector<Vertex> vertices_;
    std::vector<int> order_;     ///< vertices, upper ones first
    std::vector<Place> places_;  ///< by host
    SwitchTree result_;
};

}  // namespace

Result<SwitchTree> switch_tree(const Fabric& fabric) {
    Result<SwitchGraph> graph = switch_graph(fabric);
    if (!graph) return graph.status();
    Result<SwitchLevels> levels = switch_levels(*graph, fabric.rooted);
    if (!levels) return levels.status();
    return TreeOfSwitches(fabric, std::move(*graph), std::move(*levels)).build();
}

}  // namespace gradcoll
