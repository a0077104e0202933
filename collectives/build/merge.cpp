// collectives/build/merge.cpp - makes a tree without the vertices that are merged.
#include "collectives/build/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace gradcoll {
namespace {

/// A Way leads from a branch up to the vertex that it is handed to, without the branch's own link.
struct Way {
    double gbytes_per_s = std::numeric_limits<double>::infinity();  ///< 0: not known
    double latency_us = 0;
    bool knows_latency = true;

    /// Returns the way with one more link, which carries `share` times what one branch sends.
    Way through(const Uplink& link, double share) const {
        return {std::min(gbytes_per_s, link.bandwidth_gbytes_per_s / share),
                latency_us + link.latency_us, knows_latency && link.latency_us > 0};
    }
    Uplink uplink() const { return {gbytes_per_s, knows_latency ? latency_us : 0}; }
};

class Splicer {
  public:
    Splicer(const Tree& tree, const VertexChoices& choices)
        : tree_(tree), choices_(choices), branches_(branch_counts(tree, choices)) {}

    TreeSpec without_merged(int vertex) const {
        const Vertex& from = tree_.vertex(vertex);
        TreeSpec spec{from.kind, from.name, from.rank, from.uplink, {}};
        add_branches(vertex, {}, branches_[static_cast<std::size_t>(vertex)], spec.children);
        return spec;
    }

  private:
    void add_branches(int vertex, const Way& above, int degree,
                      std::vector<TreeSpec>& branches) const {
        for (const int child : tree_.children(vertex)) {
            const Uplink& link = tree_.vertex(child).uplink;
            if (is_merged(tree_, choices_, child)) {
                const int sharing = branches_[static_cast<std::size_t>(child)];
                const double share = static_cast<double>(sharing) * (degree - sharing) /
                                     static_cast<double>(degree - 1);
                add_branches(child, above.through(link, share), degree, branches);
            } else {
                branches.push_back(without_merged(child));
                if (is_merged(tree_, choices_, vertex))
                    branches.back().uplink = above.through(link, 1).uplink();
            }
        }
    }

    const Tree& tree_;
    const VertexChoices& choices_;
    std::vector<int> branches_;
};

}  // namespace

bool is_merged(const Tree& tree, const VertexChoices& choices, int vertex) {
    return !tree.is_leaf(vertex) && choices.of(vertex).exchange == Exchange::merged;
}

std::vector<int> branch_counts(const Tree& tree, const VertexChoices& choices) {
    std::vector<int> counts(static_cast<std::size_t>(tree.vertex_count()), 0);
    for (int vertex = tree.vertex_count() - 1; vertex > 0; --vertex) {
        const auto at = static_cast<std::size_t>(vertex);
        counts[static_cast<std::size_t>(tree.vertex(vertex).parent)] +=
            is_merged(tree, choices, vertex) ? counts[at] : 1;
    }
    return counts;
}

PlannedTree::PlannedTree(const Tree& tree, PlanSpec spec) : tree_(&tree), spec_(std::move(spec)) {
    std::vector<VertexChoice> kept;
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
        if (spec_.choices.empty() || gradcoll::is_merged(tree, spec_.choices, vertex)) continue;
        vertex_of_.push_back(vertex);
        kept.push_back(spec_.choices.of(vertex));
    }
    if (kept.size() == spec_.choices.size()) return;
    merged_ = std::make_shared<const Tree>(
        Tree::make(Splicer(tree, spec_.choices).without_merged(tree.root())).value());
    spec_.choices = std::move(kept);
}

void PlannedTree::number_levels(int rank, Schedule& schedule) const {
    if (!merged_) return;
    std::map<std::uint8_t, std::uint8_t> numbers;
    for (const int vertex : merged_->path_up(rank)) {
        const int height = tree_->vertex(given_vertex(vertex)).height;
        numbers[static_cast<std::uint8_t>(merged_->vertex(vertex).height - 1)] =
            static_cast<std::uint8_t>(height - 1);
    }
    for (Step& step : schedule.steps)
        if (const auto known = numbers.find(step.level); known != numbers.end())
            step.level = known->second;
}

Status check_merged(const Tree& tree, const VertexChoices& choices) {
    for (const int vertex : tree.inner_vertices()) {
        if (!is_merged(tree, choices, vertex)) continue;
        const int above = tree.vertex(vertex).parent;
        if (above < 0)
            return {
                Code::invalid_argument,
                fmt::format("the exchange of vertex {} is merged: the root must have one of its "
                            "own",
                            vertex)};
        if (choices.of(above).codec != choices.of(vertex).codec)
            return {Code::invalid_argument,
                    fmt::format("vertex {} is merged with {}: its codec is {}, must be {} as there",
                                vertex, above, name_of(choices.of(vertex).codec),
                                name_of(choices.of(above).codec))};
    }
    return {};
}

}  // namespace gradcoll
