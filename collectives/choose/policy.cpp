// collectives/choose/policy.cpp - decides how a call is done on a tree, one choice after another.
#include "collectives/choose/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collectives/build/planner.hpp"
#include "collectives/choose/chunk_choice.hpp"
#include "collectives/choose/exchange_choice.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/model.hpp"

namespace gradcoll {
namespace {

/// Returns the codec of the way down: that of the highest lossy vertex unless the user named one.
CodecId down_codec_for(const Tree& tree, const PolicyOptions& options) {
    if (options.down_codec) return *options.down_codec;
    CodecId highest = CodecId::exact;
    int height = 0;
    for (const int vertex : tree.inner_vertices()) {
        const CodecId codec = options.codecs.of(tree, vertex);
        if (codec == CodecId::exact || tree.vertex(vertex).height <= height) continue;
        highest = codec;
        height = tree.vertex(vertex).height;
    }
    return highest;
}

ShortVectorRules short_vector_rules(const Tree& tree, const PolicyOptions& options) {
    ShortVectorRules rules;
    rules.is_free = [&](int vertex) {
        return options.may_choose_exchange_at(tree.vertex(vertex).height - 1);
    };
    rules.may_be_whole = !options.chunk_bytes;
    rules.chunks_in_flight = options.chunks_in_flight;
    rules.tuning = options.tuning;
    return rules;
}

/// Makes the spec for a builder that no forecast knows: what the options say, and nothing that
/// rests on forecasts.
PlanSpec spec_for_builder(const Tree& tree, const PlanSpec& call, PolicyOptions options) {
    if (options.level_exchanges.empty()) options.level_exchanges = {ExchangeWish()};
    for (ExchangeWish& wish : options.level_exchanges) wish = wish.value_or(Exchange::direct);
    PlanSpec spec = call;
    spec.builder = options.builder;
    spec.feedback = options.feedback;
    spec.choices = vertex_choices(tree, call, options, call.count_elems);
    spec.down_codec = down_codec_for(tree, options);
    spec.granule_elems = granule_for(spec);
    spec.chunk_elems = chunk_for(tree, spec, options);
    return spec;
}

/// Decides with the codecs that the options name.
Decision decide_as_wished(const Tree& tree, const PlanSpec& call, const PolicyOptions& options) {
    Decision decision;
    PlanSpec& spec = decision.spec;
    spec = call;
    spec.feedback = options.feedback;
    spec.choices = vertex_choices(tree, call, options, call.count_elems);
    spec.down_codec = down_codec_for(tree, options);
    spec.granule_elems = granule_for(spec);
    spec.chunk_elems = chunk_for(tree, spec, options);
    deal_where_cut_too_finely(tree, spec);
    // Chunks that the links cut need other choices than the whole vector.
    if (spec.chunk_elems > 0 && knows_links(tree))
        spec.choices = vertex_choices_of_chunks(tree, call, options, spec.chunk_elems);
    ShortVectorPlan shorter = for_short_vector(tree, spec, short_vector_rules(tree, options));
    spec = std::move(shorter.spec);
    decision.shortened = std::move(shorter.changes);
    decision.predicted_us =
        forecast_tree(tree, *options.tuning, spec, options.chunks_in_flight).total_us;
    return decision;
}

/// Returns the options with the codecs that pay. A residual's layout must not change with the
/// codecs, so chunks then stay those of the wish.
PolicyOptions with_codecs_that_pay(const PlanSpec& wished, PolicyOptions options,
                                   const std::vector<CodecVerdict>& verdicts) {
    options.codecs = codecs_that_pay(std::move(options.codecs), verdicts);
    if (options.feedback) options.chunk_bytes = wished.chunk_elems * wished.elem_bytes;
    return options;
}

Decision decide_for_flexreduce(const Tree& tree, const PlanSpec& call,
                               const PolicyOptions& options) {
    Decision wished = decide_as_wished(tree, call, options);
    if (options.compress_if == CompressIf::always || !is_lossy(wished.spec)) return wished;
    std::vector<CodecVerdict> verdicts = weigh_codecs(tree, *options.tuning, wished.spec);
    const bool all_pay =
        std::all_of(verdicts.begin(), verdicts.end(),
                    [](const CodecVerdict& each) { return each.pays() && each.packing_pays(); });
    Decision decision =
        all_pay
            ? std::move(wished)
            : decide_as_wished(tree, call, with_codecs_that_pay(wished.spec, options, verdicts));
    decision.codecs = std::move(verdicts);
    return decision;
}

Decision decide_with_equal_shares(const Tree& tree, const PlanSpec& call,
                                  const PolicyOptions& options) {
    if (options.builder == Builder::flexreduce) return decide_for_flexreduce(tree, call, options);
    Decision decision;
    decision.spec = spec_for_builder(tree, call, options);
    const Status refusal = Planner::make(tree, decision.spec).status();
    if (refusal.ok()) return decision;
    decision = decide_for_flexreduce(tree, call, options);
    decision.builder_refusal =
        fmt::format("{} does not make this plan: {}", name_of(options.builder), refusal.message());
    return decision;
}

}  // namespace

Decision decide(const Tree& tree, const PlanSpec& call, const PolicyOptions& options) {
    if (!is_long_enough_for_codecs(tree, call))
        return decide_with_equal_shares(tree, call, options.without_codecs());
    Decision decision = decide_with_equal_shares(tree, call, options);
    deal_out_loss(tree, *options.tuning, decision.spec);
    return decision;
}

}  // namespace gradcoll
