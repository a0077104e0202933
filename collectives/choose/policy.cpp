// collectives/choose/policy.cpp - how a call is done on a tree.
#include "collectives/choose/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "collectives/choose/short_vectors.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/predict/cost.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/pipeline.hpp"

namespace gradcoll {
namespace {

/// Calls item(text) -> Result<T> for every comma separated entry.
template <class T, class Item>
Result<std::vector<T>> list_from(std::string_view text, Item item) {
    std::vector<T> list;
    while (true) {
        const std::size_t comma = text.find(',');
        Result<T> entry = item(text.substr(0, comma));
        if (!entry.ok()) return entry.status();
        list.push_back(*entry);
        if (comma == std::string_view::npos) return list;
        text.remove_prefix(comma + 1);
    }
}

Result<ExchangeWish> exchange_from(std::string_view name) {
    if (name == "auto") return ExchangeWish::automatic;
    if (name == "direct") return ExchangeWish::direct;
    if (name == "ring") return ExchangeWish::ring;
    if (name == "recursive") return ExchangeWish::recursive;
    if (name == "single") return ExchangeWish::single;
    return Status(
        Code::invalid_argument,
        fmt::format("exchange \"{}\" is unknown; allowed: auto, direct, ring, recursive, single",
                    printable(name)));
}

/// Entry of a list by level; the last one holds for all levels above.
template <class T>
T at_level(const std::vector<T>& list, int level, T otherwise) {
    if (list.empty()) return otherwise;
    return list[std::min(static_cast<std::size_t>(level), list.size() - 1)];
}

/// What direct exchange loses to many senders at once is a guess. Where it is so much that even a
/// ring with its many rounds is faster, one sender at a time is right; few rounds alone are no
/// reason for it.
/// `longer_way_us`: what a message takes beyond the one link that phase_us() counts; a ring pays it
/// every round.
Exchange fastest_exchange(const Tree& tree, const Tuning& tuning, int vertex, double wire_bytes,
                          double longer_way_us) {
    const auto degree = static_cast<int>(tree.children(vertex).size());
    const auto us = [&](Exchange exchange) {
        return phase_us(tree, tuning, vertex, exchange, wire_bytes) +
               round_count(exchange, degree) * longer_way_us;
    };
    if (us(Exchange::ring) >= us(Exchange::direct)) return Exchange::direct;
    return us(Exchange::ring) < us(Exchange::recursive) ? Exchange::ring : Exchange::recursive;
}

/// Parents come before their children.
bool may_be_single(const Tree& tree, const PlanSpec& call, const PolicyOptions& options, int vertex,
                   const std::vector<VertexChoice>& choices) {
    const int above = tree.vertex(vertex).parent;
    return call.collective == Collective::allreduce && !options.feedback &&
           choices[static_cast<std::size_t>(vertex)].codec == CodecId::exact &&
           (above < 0 || choices[static_cast<std::size_t>(above)].exchange == Exchange::single);
}

/// By vertex; zeros where no link is known.
std::vector<double> longer_ways_us(const Tree& tree, const Tuning& tuning) {
    std::vector<double> us(static_cast<std::size_t>(tree.vertex_count()), 0.0);
    if (!knows_links(tree)) return us;
    us = message_latencies_us(tree, tuning);
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex)
        if (!tree.is_leaf(vertex))
            us[static_cast<std::size_t>(vertex)] -= link_figures(tree, tuning, vertex).latency_us;
    return us;
}

/// For a vector (or chunk) of `count_elems`.
std::vector<VertexChoice> choices_for(const Tree& tree, const PlanSpec& call,
                                      const PolicyOptions& options, std::int64_t count_elems) {
    std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()));
    const std::vector<double> longer_us = longer_ways_us(tree, *options.tuning);
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
        if (tree.is_leaf(vertex)) continue;
        const int level = tree.vertex(vertex).height - 1;
        VertexChoice& choice = choices[static_cast<std::size_t>(vertex)];
        choice.codec = at_level(options.level_codecs, level, CodecId::exact);
        const auto count = static_cast<std::size_t>(count_elems);
        const auto bytes = static_cast<double>(encoded_bytes(choice.codec, call.elem_bytes, count));
        switch (at_level(options.level_exchanges, level, ExchangeWish::automatic)) {
            case ExchangeWish::automatic:
                choice.exchange = fastest_exchange(tree, *options.tuning, vertex, bytes,
                                                   longer_us[static_cast<std::size_t>(vertex)]);
                break;
            case ExchangeWish::direct:
                choice.exchange = Exchange::direct;
                break;
            case ExchangeWish::ring:
                choice.exchange = Exchange::ring;
                break;
            case ExchangeWish::recursive:
                choice.exchange = Exchange::recursive;
                break;
            case ExchangeWish::single:
                if (may_be_single(tree, call, options, vertex, choices))
                    choice.exchange = Exchange::single;
                break;
        }
    }
    return choices;
}

/// A pipeline hides what a level loses as long as another one takes longer: a ring whose many
/// rounds save the loss of direct exchange there only makes every chunk's way longer. So vertices
/// whose links are not the slowest exchange directly, unless the loss is as much as they are
/// faster.
void exchange_directly_where_hidden(const Tree& tree, const PlanSpec& call,
                                    const PolicyOptions& options, std::int64_t chunk_elems,
                                    std::vector<VertexChoice>& choices) {
    const Tuning& tuning = *options.tuning;
    constexpr double nearly_slowest = 0.9;
    constexpr double loss_is_not_that_exact = 1.25;
    const auto bytes_of = [&](int vertex) {
        return static_cast<double>(encoded_bytes(choices[static_cast<std::size_t>(vertex)].codec,
                                                 call.elem_bytes,
                                                 static_cast<std::size_t>(chunk_elems)));
    };
    double slowest_us = 0;
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex)
        if (!tree.is_leaf(vertex))
            slowest_us = std::max(slowest_us, link_us(tree, tuning, vertex, bytes_of(vertex)));
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
        if (tree.is_leaf(vertex)) continue;
        const int level = tree.vertex(vertex).height - 1;
        const double bytes = bytes_of(vertex);
        const bool free = at_level(options.level_exchanges, level, ExchangeWish::automatic) ==
                          ExchangeWish::automatic;
        if (free && link_us(tree, tuning, vertex, bytes) < nearly_slowest * slowest_us &&
            phase_us(tree, tuning, vertex, Exchange::direct, bytes) <
                loss_is_not_that_exact * slowest_us)
            choices[static_cast<std::size_t>(vertex)].exchange = Exchange::direct;
    }
}

/// The way down uses the codec of the highest lossy level unless the user named one.
CodecId down_codec_for(const Tree& tree, const PolicyOptions& options) {
    if (options.down_codec) return *options.down_codec;
    for (int level = tree.height() - 1; level >= 0; --level) {
        const CodecId codec = at_level(options.level_codecs, level, CodecId::exact);
        if (codec != CodecId::exact) return codec;
    }
    return CodecId::exact;
}

std::int64_t granule_for(const PlanSpec& spec) {
    if (spec.feedback || is_lossy(spec)) return static_cast<std::int64_t>(lossy_block_elems);
    return std::max<std::int64_t>(1, exact_granule_bytes / spec.elem_bytes);
}

/// Where links are known: as many chunks as make the pipeline through the levels shortest, each
/// with at least min_granules_per_rank. Nothing if that is one and the scratch memory can hold it.
std::int64_t pipelined_chunk(const Tree& tree, const Tuning& tuning, const PlanSpec& spec) {
    const std::int64_t granules = spec.count_elems / spec.granule_elems;
    const std::int64_t most = granules / (min_granules_per_rank * tree.rank_count());
    const double bytes = static_cast<double>(spec.count_elems) * spec.elem_bytes;
    std::int64_t chunks =
        pipeline_of(tree, tuning, spec).best_chunk_count(bytes, most, usual_chunks_in_flight);
    const AutoChunk& bound = tuning.one_level_chunk;
    if (bytes > static_cast<double>(bound.whole_bytes)) {
        const auto bounded = static_cast<std::int64_t>(bytes) / bound.chunk_bytes;
        chunks = std::max(chunks, std::min(bounded, most));
    }
    return chunks == 1 ? 0 : (granules + chunks - 1) / chunks * spec.granule_elems;
}

std::int64_t measured_chunk(const Tree& tree, const Tuning& tuning, const PlanSpec& spec) {
    const AutoChunk automatic =
        tree.height() > 1 ? tuning.many_level_chunk : tuning.one_level_chunk;
    if (spec.count_elems <= automatic.whole_bytes / spec.elem_bytes) return 0;
    const std::int64_t granules = automatic.chunk_bytes / spec.elem_bytes / spec.granule_elems;
    return std::max({std::int64_t{1}, granules, min_granules_per_rank * tree.rank_count()}) *
           spec.granule_elems;
}

std::int64_t chunk_for(const Tree& tree, const PlanSpec& spec, const PolicyOptions& options) {
    const Tuning& tuning = *options.tuning;
    const std::optional<std::int64_t> chunk_bytes = options.chunk_bytes;
    if (spec.collective != Collective::allreduce || tree.rank_count() == 1 || chunk_bytes == 0)
        return 0;
    if (!chunk_bytes)
        return knows_links(tree) ? pipelined_chunk(tree, tuning, spec)
                                 : measured_chunk(tree, tuning, spec);
    const std::int64_t granules = *chunk_bytes / spec.elem_bytes / spec.granule_elems;
    return std::max<std::int64_t>(1, granules) * spec.granule_elems;
}

ShortVectorRules short_vector_rules(const Tree& tree, const PolicyOptions& options) {
    ShortVectorRules rules;
    rules.is_free = [&](int vertex) {
        const int level = tree.vertex(vertex).height - 1;
        return at_level(options.level_exchanges, level, ExchangeWish::automatic) ==
               ExchangeWish::automatic;
    };
    rules.may_be_whole = !options.chunk_bytes;
    rules.chunks_in_flight = options.chunks_in_flight;
    rules.tuning = options.tuning;
    return rules;
}

std::string why_text(const Tree& tree, const Tuning& tuning, const PlanSpec& spec, int vertex) {
    const Vertex& v = tree.vertex(vertex);
    const VertexChoice& choice = spec.choices[static_cast<std::size_t>(vertex)];
    const auto count = static_cast<std::size_t>(spec.count_elems);
    const auto bytes = static_cast<double>(encoded_bytes(choice.codec, spec.elem_bytes, count));
    std::string text = fmt::format("vertex {} ({} {}, level {}, {} branches): ", vertex,
                                   name_of(v.kind), v.name, v.height - 1, v.children.size());
    if (choice.exchange == Exchange::merged)
        return text + "merged with the one above, which has its branches\n";
    return text + fmt::format(
                      "{} exchange, {}; a phase would take direct {:.1f} us, recursive {:.1f} us, "
                      "ring {:.1f} us\n",
                      name_of(choice.exchange), name_of(choice.codec),
                      phase_us(tree, tuning, vertex, Exchange::direct, bytes),
                      phase_us(tree, tuning, vertex, Exchange::recursive, bytes),
                      phase_us(tree, tuning, vertex, Exchange::ring, bytes));
}

std::string why_text(const Tree& tree, const Tuning& tuning, const PlanSpec& spec,
                     double predicted) {
    std::string text;
    for (int vertex = 0; vertex < tree.vertex_count(); ++vertex)
        if (!tree.is_leaf(vertex)) text += why_text(tree, tuning, spec, vertex);
    return text + fmt::format(
                      "down: {}; granule {} elems; chunks of {} elems (0: whole); about {:.1f} us "
                      "in all\n",
                      name_of(spec.down_codec), spec.granule_elems, spec.chunk_elems, predicted);
}

}  // namespace

Result<std::vector<CodecId>> level_codecs_from(std::string_view text) {
    return list_from<CodecId>(text, codec_from_name);
}

Result<std::vector<ExchangeWish>> level_exchanges_from(std::string_view text) {
    Result<std::vector<ExchangeWish>> list = list_from<ExchangeWish>(text, exchange_from);
    if (!list.ok()) return list;
    const auto single = std::find(list->begin(), list->end(), ExchangeWish::single);
    if (std::all_of(single, list->end(), [](ExchangeWish w) { return w == ExchangeWish::single; }))
        return list;
    return Status(Code::invalid_argument,
                  fmt::format("exchanges \"{}\": after a single one nothing is left to exchange "
                              "otherwise; allowed above single: single",
                              printable(text)));
}

namespace {

/// With the codecs that the options name.
Decision decide_as_wished(const Tree& tree, const PlanSpec& call, const PolicyOptions& options) {
    Decision decision{call, 0, {}};
    PlanSpec& spec = decision.spec;
    spec.feedback = options.feedback;
    spec.choices = choices_for(tree, call, options, call.count_elems);
    spec.down_codec = down_codec_for(tree, options);
    spec.granule_elems = granule_for(spec);
    spec.chunk_elems = chunk_for(tree, spec, options);
    // What is best for the whole vector is what counts where chunks are not cut by the links.
    if (spec.chunk_elems > 0 && knows_links(tree)) {
        std::vector<VertexChoice> choices = choices_for(tree, call, options, spec.chunk_elems);
        exchange_directly_where_hidden(tree, call, options, spec.chunk_elems, choices);
        spec.choices = std::move(choices);
    }
    ShortVectorPlan shorter = for_short_vector(tree, spec, short_vector_rules(tree, options));
    spec = std::move(shorter.spec);
    decision.predicted_us =
        forecast_tree(tree, *options.tuning, spec, options.chunks_in_flight).total_us;
    decision.why = why_text(tree, *options.tuning, spec, decision.predicted_us) + shorter.why;
    return decision;
}

/// A residual's layout must not change with the codecs: then the chunks stay those of the wish.
PolicyOptions with_codecs_that_pay(const Tree& tree, const PlanSpec& wished, PolicyOptions options,
                                   const std::vector<CodecVerdict>& verdicts) {
    options.level_codecs = codecs_that_pay(tree, options.level_codecs, verdicts);
    if (options.feedback) options.chunk_bytes = wished.chunk_elems * wished.elem_bytes;
    return options;
}

}  // namespace

Decision decide(const Tree& tree, const PlanSpec& call, const PolicyOptions& options) {
    Decision wished = decide_as_wished(tree, call, options);
    if (options.compress_if == CompressIf::always || !is_lossy(wished.spec)) return wished;
    const std::vector<CodecVerdict> verdicts = weigh_codecs(tree, *options.tuning, wished.spec);
    std::string why;
    for (const CodecVerdict& verdict : verdicts) why += text_of(verdict);
    const bool all_pay = std::all_of(verdicts.begin(), verdicts.end(),
                                     [](const CodecVerdict& each) { return each.pays(); });
    Decision decision =
        all_pay ? std::move(wished)
                : decide_as_wished(tree, call,
                                   with_codecs_that_pay(tree, wished.spec, options, verdicts));
    decision.why = why + decision.why;
    return decision;
}

}  // namespace gradcoll
