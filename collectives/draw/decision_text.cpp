// collectives/draw/decision_text.cpp - what the policy chose and why, in words.
#include "collectives/draw/decision_text.hpp"

#include <fmt/format.h>

#include "collectives/build/builder.hpp"
#include "collectives/choose/exchange_choice.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/predict/forecast.hpp"

namespace gradcoll {
namespace {

std::string parts_text(const LevelForecast& part) {
    return fmt::format("{:.1f} us on links, {:.1f} on cores, {:.1f} of latency", part.link_us,
                       part.core_us, part.latency_us);
}

/// Describes a vertex. `costs` is null for a merged one.
std::string vertex_text(const Tree& tree, const PlanSpec& spec, int vertex,
                        const ExchangeCosts* costs) {
    const Vertex& v = tree.vertex(vertex);
    const std::string where = fmt::format("vertex {} ({} {}, level {}, {} branches): ", vertex,
                                          name_of(v.kind), v.name, v.height - 1, v.children.size());
    if (costs == nullptr) return where + "merged with the one above, which has its branches\n";
    const VertexChoice choice = spec.choices.of(vertex);
    std::string text = where + fmt::format("{} exchange, {}; a phase would take",
                                           name_of(choice.exchange), name_of(choice.codec));
    for (const ExchangeCosts::Cost& cost : costs->costs)
        text += fmt::format("{} {} {:.1f} us", &cost == costs->costs.data() ? "" : ",",
                            name_of(cost.exchange), cost.us);
    return text + "\n";
}

std::string vertices_text(const Tree& tree, const Decision& decision, const Tuning& tuning) {
    const std::vector<ExchangeCosts> exchanges = exchange_costs(tree, tuning, decision.spec);
    std::string text;
    auto costs = exchanges.begin();
    for (const int vertex : tree.inner_vertices()) {
        const bool has_costs = costs != exchanges.end() && costs->vertex == vertex;
        text += vertex_text(tree, decision.spec, vertex, has_costs ? &*costs : nullptr);
        if (has_costs) ++costs;
    }
    return text;
}

std::string change_text(const ShortVectorChange& change) {
    const std::string what = change.kind == ShortVectorChange::Kind::single_exchanges
                                 ? fmt::format("single exchanges from level {} up", change.level)
                                 : fmt::format("level {} merged with those above, {} exchange",
                                               change.level, name_of(change.above));
    return fmt::format("{}: about {:.1f} us instead of {:.1f} us\n", what, change.us,
                       change.before_us);
}

}  // namespace

std::string builder_text(Builder builder, std::string_view refusal) {
    if (!refusal.empty()) return fmt::format("built by {}: {}\n", name_of(builder), refusal);
    if (builder == Builder::flexreduce) return {};
    return fmt::format("built by {}\n", name_of(builder));
}

std::string text_of(const CodecVerdict& verdict) {
    const CodecId codec = verdict.packing_pays() ? verdict.codec : without_packing(verdict.codec);
    const std::string packed =
        verdict.packing_pays()
            ? std::string()
            : fmt::format(" ({}: {:.1f} us)", name_of(verdict.codec), verdict.packed_us);
    return fmt::format(
        "level {}: {}{} {}: {:.1f} us against {:.1f} exact, in {} part{} (one: {}; exact: {})\n",
        verdict.level, name_of(codec), packed, verdict.pays() ? "pays" : "does not pay",
        verdict.compressed_us, verdict.exact_us, verdict.parts, verdict.parts == 1 ? "" : "s",
        parts_text(verdict.compressed), parts_text(verdict.exact));
}

std::string text_of(const Tree& tree, const Decision& decision, const Tuning& tuning) {
    const PlanSpec& spec = decision.spec;
    std::string text = builder_text(spec.builder, decision.builder_refusal);
    for (const CodecVerdict& verdict : decision.codecs) text += text_of(verdict);
    if (is_predicted(spec)) text += vertices_text(tree, decision, tuning);
    text += fmt::format("down: {}; granule {} elems{}; chunks of {} elems (0: whole); {}\n",
                        name_of(spec.down_codec), spec.granule_elems,
                        spec.dealt ? ", dealt out" : "", spec.chunk_elems,
                        is_predicted(spec)
                            ? fmt::format("about {:.1f} us in all", decision.predicted_us)
                            : "not predicted");
    for (const ShortVectorChange& change : decision.shortened) text += change_text(change);
    return text;
}

}  // namespace gradcoll
