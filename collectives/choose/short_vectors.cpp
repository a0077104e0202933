// collectives/choose/short_vectors.cpp - looks for plans with fewer messages one after another.
#include "collectives/choose/short_vectors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "collectives/build/merge.hpp"
#include "collectives/choose/exchange_choice.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

/// If latencies are a smaller part of a call there is nothing to be gained.
constexpr double least_latency_part = 0.03;
/// Each change must gain this much; all together must gain short_vector_least_gain.
constexpr double least_gain_of_one = 0.01;

class Search {
  public:
    Search(const Tree& tree, const PlanSpec& spec, const ShortVectorRules& rules)
        : tree_(tree), rules_(rules), given_(spec), best_{spec, {}} {
        const Forecast forecast = forecast_of(spec);
        given_us_ = best_us_ = forecast.total_us;
        worth_it_ = forecast.latency_us > least_latency_part * forecast.total_us;
    }

    ShortVectorPlan run() {
        if (!worth_it_) return std::move(best_);
        try_single_exchanges();
        bool merged = false;
        for (int level = 0; level + 1 < tree_.height(); ++level) merged |= try_merging(level);
        if (merged) try_single_exchanges();
        if (best_us_ > (1 - short_vector_least_gain) * given_us_) return {given_, {}};
        return std::move(best_);
    }

  private:
    using Choices = std::vector<VertexChoice>;

    Forecast forecast_of(const PlanSpec& spec) const {
        return forecast_tree(tree_, *rules_.tuning, spec, rules_.chunks_in_flight);
    }
    int level_of(int vertex) const { return tree_.vertex(vertex).height - 1; }
    Choices choices() const { return {best_.spec.choices.begin(), best_.spec.choices.end()}; }
    static VertexChoice& at(Choices& choices, int vertex) {
        return choices[static_cast<std::size_t>(vertex)];
    }
    bool is_free(int vertex) const {
        return connects_hosts(tree_, vertex) && rules_.is_free(vertex);
    }

    bool take_if_better(Choices choices, ShortVectorChange change) {
        PlanSpec spec = best_.spec;
        spec.choices = std::move(choices);
        if (rules_.may_be_whole) spec.chunk_elems = 0;
        const double us = forecast_of(spec).total_us;
        if (us >= (1 - least_gain_of_one) * best_us_) return false;
        change.us = us;
        change.before_us = best_us_;
        best_.changes.push_back(change);
        best_.spec = std::move(spec);
        best_us_ = us;
        return true;
    }

    /// Tries single exchanges at all vertices that can have them, from each level on.
    void try_single_exchanges() {
        if (best_.spec.collective != Collective::allreduce || best_.spec.feedback) return;
        for (int level = tree_.height() - 1; level >= 0; --level)
            take_if_better(single_from(level), {ShortVectorChange::Kind::single_exchanges, level});
    }

    Choices single_from(int level) const {
        Choices made = choices();
        for (const int vertex : tree_.inner_vertices()) {
            VertexChoice& choice = at(made, vertex);
            if (choice.exchange == Exchange::merged || choice.codec != CodecId::exact ||
                level_of(vertex) < level || !is_free(vertex))
                continue;
            if (vertex == tree_.root() ||
                at(made, not_merged_above(made, vertex)).exchange == Exchange::single)
                choice.exchange = Exchange::single;
        }
        return made;
    }

    int not_merged_above(const Choices& choices, int vertex) const {
        do vertex = tree_.vertex(vertex).parent;
        while (choices[static_cast<std::size_t>(vertex)].exchange == Exchange::merged);
        return vertex;
    }

    /// Tries to merge the branches of a level with the one above, which keeps its exchange or gets
    /// another: an automatic one of few rounds.
    bool try_merging(int level) {
        bool any = try_merging(level, Exchange::single);
        for (const ExchangeRow* row : exchange_table())
            if (row->automatic && has_few_rounds(*row)) any |= try_merging(level, row->number);
        return any;
    }
    bool try_merging(int level, Exchange above) {
        Choices made = choices();
        return merge(level, above, made) &&
               take_if_better(std::move(made),
                              {ShortVectorChange::Kind::merged_level, level, above});
    }
    /// Returns whether it has fewer rounds than there are other branches, if branches are many.
    static bool has_few_rounds(const ExchangeRow& row) {
        constexpr int many = 16;
        return row.rounds_up(many) < many - 1;
    }

    /// Merges a level. `above` is the exchange of the vertices that others are merged with. Returns
    /// false if there are none.
    bool merge(int level, Exchange above, Choices& choices) const {
        bool any = false;
        for (const int vertex : tree_.inner_vertices()) {
            if (level_of(vertex) != level || vertex == tree_.root() || !can_merge(choices, vertex))
                continue;
            const int into = not_merged_above(choices, vertex);
            if ((above == Exchange::single) != (at(choices, into).exchange == Exchange::single))
                continue;
            at(choices, vertex).exchange = Exchange::merged;
            at(choices, into).exchange = above;
            any = true;
        }
        return any;
    }

    bool can_merge(const Choices& choices, int vertex) const {
        const int into = not_merged_above(choices, vertex);
        const auto codec_of = [&](int one) { return choices[static_cast<std::size_t>(one)].codec; };
        return is_free(vertex) && is_free(into) && codec_of(vertex) == codec_of(into) &&
               choices[static_cast<std::size_t>(vertex)].exchange != Exchange::merged &&
               knows_link(vertex) &&
               std::all_of(tree_.children(vertex).begin(), tree_.children(vertex).end(),
                           [this](int child) { return knows_link(child); });
    }
    bool knows_link(int vertex) const {
        const Uplink& link = tree_.vertex(vertex).uplink;
        return link.bandwidth_gbytes_per_s > 0 && link.latency_us > 0;
    }

    const Tree& tree_;
    const ShortVectorRules& rules_;
    const PlanSpec& given_;
    double given_us_ = 0;
    ShortVectorPlan best_;
    double best_us_ = 0;
    bool worth_it_ = false;
};

bool is_slow_between_hosts(const Tree& tree, int vertex) {
    const Vertex& branch = tree.vertex(vertex);
    const double rate = branch.uplink.bandwidth_gbytes_per_s;
    return rate > 0 && rate < slow_link_gbytes_per_s &&
           connects_hosts(tree.vertex(branch.parent).kind);
}

}  // namespace

ShortVectorPlan for_short_vector(const Tree& tree, const PlanSpec& spec,
                                 const ShortVectorRules& rules) {
    const bool empty = spec.count_elems == 0 || tree.rank_count() == 1;
    if (empty || tree.vertex_count() > short_vector_most_vertices) return {spec, {}};
    return Search(tree, spec, rules).run();
}

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
