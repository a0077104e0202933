// collectives/choose/exchange_choice.cpp - chooses the exchange of each vertex.
#include "collectives/choose/exchange_choice.hpp"

#include <algorithm>
#include <optional>

#include "collectives/exchange/exchange.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {

bool is_unknown_network(const Tree& tree, int vertex) {
    const auto children = tree.children(vertex);
    return tree.vertex(vertex).kind == VertexKind::group && children.size() > 2 &&
           std::all_of(children.begin(), children.end(), [&](int child) {
               const Vertex& host = tree.vertex(child);
               return host.kind == VertexKind::host || (host.rank >= 0 && !host.name.empty());
           });
}

namespace {

/// A link that needs at least this part of the slowest one's time counts as slowest, too.
constexpr double slowest_from = 0.9;
/// The loss by many senders is a guess: direct exchange is assumed to be hidden up to so many times
/// the time of the slowest link.
constexpr double hidden_up_to = 1.25;

/// Returns the fastest exchange. The loss of direct exchange by many senders at once is a guess. If
/// it is so large that even as many rounds as there are other branches, with one sender each, are
/// faster, then one sender at a time is right; few rounds alone are no reason for it. Of equally
/// fast ones it takes the last in the table. `longer_way_us` is what a message takes beyond the one
/// link that phase_us() counts; every round pays it.
Exchange fastest_exchange(const Tree& tree, const Tuning& tuning, int vertex, double wire_bytes,
                          double longer_way_us) {
    const auto degree = static_cast<int>(tree.children(vertex).size());
    const auto us = [&](const PhaseShape& shape) {
        return phase_us(tree, tuning, vertex, shape, wire_bytes) + shape.rounds * longer_way_us;
    };
    double least_us = us(phase_shape(Exchange::direct, degree));
    if (us({.rounds = degree - 1, .senders = 1}) >= least_us) return Exchange::direct;
    Exchange fastest = Exchange::direct;
    for (const ExchangeRow* row : exchange_table()) {
        if (!row->automatic) continue;
        const double row_us = us(phase_shape(row->number, degree));
        if (row_us > least_us) continue;
        least_us = row_us;
        fastest = row->number;
    }
    return fastest;
}

/// Returns, for a long exact vector and hosts between which no switch is known, the exchange that
/// goes from host to host in their order, which crosses every switch least: near hosts are mostly
/// next to each other. It takes as long as direct exchange if there is one switch. Lossy codecs
/// would encode each sum again and again.
std::optional<Exchange> safe_exchange(const Tree& tree, int vertex, CodecId codec, double bytes) {
    constexpr double least_bytes = 64 << 10;
    if (codec != CodecId::exact || bytes < least_bytes || !is_unknown_network(tree, vertex))
        return {};
    for (const ExchangeRow* row : exchange_table())
        if (row->to_next_only) return row->number;
    return {};
}

/// Returns whether a vertex may have a single exchange. Parents are decided before their children.
bool may_be_single(const Tree& tree, const PlanSpec& call, const PolicyOptions& options, int vertex,
                   const std::vector<VertexChoice>& choices) {
    const int above = tree.vertex(vertex).parent;
    return call.collective == Collective::allreduce && !options.feedback &&
           choices[static_cast<std::size_t>(vertex)].codec == CodecId::exact &&
           (above < 0 || choices[static_cast<std::size_t>(above)].exchange == Exchange::single);
}

/// Returns, by vertex, what a message takes beyond its slowest link; zeros if no link is known.
std::vector<double> longer_ways_us(const Tree& tree, const Tuning& tuning) {
    std::vector<double> us(static_cast<std::size_t>(tree.vertex_count()), 0.0);
    if (!knows_links(tree)) return us;
    us = message_latencies_us(tree, tuning);
    for (const int vertex : tree.inner_vertices())
        us[static_cast<std::size_t>(vertex)] -= link_figures(tree, tuning, vertex).latency_us;
    return us;
}

/// Makes vertices exchange directly where a pipeline hides their loss. It does so as long as
/// another level takes longer: a ring whose many rounds save the loss of direct exchange there only
/// makes every chunk's way longer. So vertices whose links are not the slowest exchange directly,
/// unless the loss is as much as they are faster.
void exchange_directly_where_hidden(const Tree& tree, const PlanSpec& call,
                                    const PolicyOptions& options, std::int64_t chunk_elems,
                                    std::vector<VertexChoice>& choices) {
    const Tuning& tuning = *options.tuning;
    std::vector<double> links_us(choices.size(), 0.0);
    double slowest_us = 0;
    for (const int vertex : tree.inner_vertices()) {
        const auto at = static_cast<std::size_t>(vertex);
        links_us[at] = phase_link_us(tree, tuning, vertex,
                                     usual_bytes(choices[at].codec, call.elem_bytes, chunk_elems));
        slowest_us = std::max(slowest_us, links_us[at]);
    }
    for (const int vertex : tree.inner_vertices()) {
        const auto at = static_cast<std::size_t>(vertex);
        const double bytes = usual_bytes(choices[at].codec, call.elem_bytes, chunk_elems);
        if (options.may_choose_exchange_at(tree.vertex(vertex).height - 1) &&
            links_us[at] < slowest_from * slowest_us &&
            phase_us(tree, tuning, vertex, Exchange::direct, bytes) < hidden_up_to * slowest_us)
            choices[at].exchange = Exchange::direct;
    }
}

}  // namespace

std::vector<VertexChoice> vertex_choices(const Tree& tree, const PlanSpec& call,
                                         const PolicyOptions& options, std::int64_t count_elems) {
    std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()));
    const std::vector<double> longer_us = longer_ways_us(tree, *options.tuning);
    for (const int vertex : tree.inner_vertices()) {
        const int level = tree.vertex(vertex).height - 1;
        VertexChoice& choice = choices[static_cast<std::size_t>(vertex)];
        choice.codec = options.codecs.of(tree, vertex);
        const ExchangeWish wish = options.exchange_at(level);
        const double bytes = usual_bytes(choice.codec, call.elem_bytes, count_elems);
        const auto safe = safe_exchange(tree, vertex, choice.codec, bytes);
        if (!wish)
            choice.exchange = safe ? *safe
                                   : fastest_exchange(tree, *options.tuning, vertex, bytes,
                                                      longer_us[static_cast<std::size_t>(vertex)]);
        else if (wish != Exchange::single || may_be_single(tree, call, options, vertex, choices))
            choice.exchange = *wish;
    }
    return choices;
}

std::vector<VertexChoice> vertex_choices_of_chunks(const Tree& tree, const PlanSpec& call,
                                                   const PolicyOptions& options,
                                                   std::int64_t chunk_elems) {
    std::vector<VertexChoice> choices = vertex_choices(tree, call, options, chunk_elems);
    exchange_directly_where_hidden(tree, call, options, chunk_elems, choices);
    return choices;
}

std::vector<ExchangeCosts> exchange_costs(const Tree& tree, const Tuning& tuning,
                                          const PlanSpec& spec) {
    std::vector<ExchangeCosts> costs;
    for (const int vertex : tree.inner_vertices()) {
        const VertexChoice choice = spec.choices.of(vertex);
        if (choice.exchange == Exchange::merged) continue;
        const double bytes = usual_bytes(choice.codec, spec.elem_bytes, spec.count_elems);
        ExchangeCosts& here = costs.emplace_back(ExchangeCosts{vertex, {}});
        for (const ExchangeRow* row : exchange_table())
            if (row->automatic)
                here.costs.push_back(
                    {row->number, phase_us(tree, tuning, vertex, row->number, bytes)});
    }
    return costs;
}

}  // namespace gradcoll
