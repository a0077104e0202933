#include "fabric/switch_levels.hpp"

#include <algorithm>
#include <iterator>

namespace gradcoll {
namespace {

class Joiner {
  public:
    Joiner(const SwitchGraph& graph, const SwitchLevels& levels)
        : graph_(graph),
          result_{DisjointSets(graph.size()), std::vector<bool>(graph.size(), false),
                  std::vector<bool>(graph.size(), false), levels.level},
          first_upper_(graph.size(), -1),
          blocked_(graph.size(), false) {
        for (std::size_t v = 0; v < graph.size(); ++v) {
            result_.has_hosts[v] = result_.leads[v] = graph.host_count[v] > 0;
            if (levels.level[v] < 0) continue;
            const std::size_t level = at(levels.level[v]);
            if (level >= on_level_.size()) on_level_.resize(level + 1);
            on_level_[level].push_back(static_cast<int>(v));
        }
    }

    VirtualSwitches run(bool rooted) {
        for (auto vertices = on_level_.rbegin(); vertices != on_level_.rend(); ++vertices)
            join_above(*vertices);
        if (rooted) return std::move(result_);
        for (const std::vector<int>& vertices : on_level_)
            std::copy_if(vertices.begin(), vertices.end(), std::back_inserter(not_leading_),
                         [&](int vertex) { return !result_.leads[set(vertex)]; });
        join_incomplete_spines();
        return std::move(result_);
    }

  private:
    std::size_t set(int vertex) { return at(result_.one.find(vertex)); }

    template <class Visit>
    void for_each_upper(int vertex, Visit visit) {
        for (const SwitchGraph::Neighbour& neighbour : graph_.neighbours(vertex))
            if (result_.level[at(neighbour.vertex)] == result_.level[at(vertex)] - 1)
                visit(neighbour.vertex);
    }

    /// Joins what is above these vertices. All joins within their level have been made, by the
    /// level below.
    void join_above(std::vector<int> vertices) {
        std::erase_if(vertices, [&](int vertex) { return !result_.leads[set(vertex)]; });
        for (const int vertex : vertices)
            for_each_upper(vertex, [&](int upper) {
                result_.leads[set(upper)] = true;
                if (result_.has_hosts[set(upper)]) blocked_[set(vertex)] = true;
            });
        for (const int vertex : vertices) {
            if (blocked_[set(vertex)]) continue;
            int& first = first_upper_[set(vertex)];
            for_each_upper(vertex, [&](int upper) {
                if (first < 0) first = upper;
                result_.one.join(first, upper);
                result_.leads[set(upper)] = true;
            });
        }
    }

    /// Returns, by set, the set above it, none, or several.
    std::vector<int> uppers() {
        std::vector<int> upper_of(graph_.size(), none);
        for (int vertex = 0; vertex < static_cast<int>(graph_.size()); ++vertex)
            if (result_.leads[set(vertex)])
                for_each_upper(vertex, [&](int upper) { meet(upper_of[set(vertex)], upper); });
        return upper_of;
    }

    void meet(int& known, int other) {
        if (known == none) known = other;
        if (known != several && set(known) != set(other)) known = several;
    }

    /// Joins spines that lack cables, from the top down, because a joined one makes a way for what
    /// hangs on it.
    void join_incomplete_spines() {
        std::vector<int> upper_of = uppers();
        for (const int vertex : not_leading_) {
            const int above = above_all_neighbours(vertex, upper_of);
            if (above < 0 || result_.has_hosts[set(above)]) continue;
            const int upper = upper_of[set(above)];
            result_.level[at(vertex)] = result_.level[at(above)];
            result_.one.join(vertex, above);
            result_.leads[set(above)] = true;
            upper_of[set(above)] = upper;
        }
    }

    /// Returns none if the switch connects less than two others: it is no way between them.
    int above_all_neighbours(int vertex, const std::vector<int>& upper_of) {
        int above = none, one_neighbour = none;
        for (const SwitchGraph::Neighbour& neighbour : graph_.neighbours(vertex)) {
            if (!result_.leads[set(neighbour.vertex)]) continue;
            meet(one_neighbour, neighbour.vertex);
            const int upper = upper_of[set(neighbour.vertex)];
            if (upper < 0) return several;
            meet(above, upper);
        }
        return one_neighbour == several ? above : none;
    }

    static constexpr int none = -1, several = -2;

    const SwitchGraph& graph_;
    VirtualSwitches result_;
    std::vector<std::vector<int>> on_level_;
    std::vector<int> first_upper_;  ///< by set: the vertex with which its other upper neighbours
                                    ///< are joined
    std::vector<bool> blocked_;     ///< by set: whether one of its upper neighbours has hosts
    std::vector<int> not_leading_;  ///< ordered from the top
};

}  // namespace

VirtualSwitches virtual_switches(const SwitchGraph& graph, const SwitchLevels& levels,
                                 bool rooted) {
    return Joiner(graph, levels).run(rooted);
}

}  // namespace gradcoll
