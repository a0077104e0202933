#include "api/inspect/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/build/planner.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/plan/plan.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/model.hpp"
#include "settings/process_tuning.hpp"
#include "settings/setting_table.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

std::string name_of_type(MPI_Datatype datatype) {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    PMPI_Type_get_name(datatype, name, &length);
    return length > 0 ? std::string(name, static_cast<std::size_t>(length)) : "a derived type";
}

std::string name_of_op(MPI_Op op) {
    const auto known = known_op(op);
    return known ? std::string(name_of(*known)) : "an op without kernels here";
}

std::uint64_t bytes_of(const CallArguments& call) {
    MPI_Count size = 0;
    PMPI_Type_size_x(call.datatype, &size);
    return static_cast<std::uint64_t>(call.count) *
           static_cast<std::uint64_t>(std::max<MPI_Count>(size, 0));
}

/// Returns the value that holds and its source: the process, or what was set for the communicator.
ExplainedSetting explained(OptionId id, const SettingsText& text) {
    const OptionInfo& row = info_of(id);
    const OptionValue& process = checked_options()[id];
    ExplainedSetting setting;
    setting.name = row.info_key.empty() ? row.variable : row.info_key;
    setting.value = text[id];
    if (text[id] != process.text)
        setting.source = "communicator";
    else if (process.source == OptionSource::config_file)
        setting.source = "config file " + process.place;
    else
        setting.source = name_of(process.source);
    return setting;
}

/// Returns the options in the order in which they are told; new ones come last.
std::vector<OptionId> deciding_options() {
    std::vector<OptionId> ids = {
        OptionId::tree_min_bytes,   OptionId::compress_bytes, OptionId::codec,
        OptionId::step_every,       OptionId::down_codec,     OptionId::compress_comms,
        OptionId::compress_calls,   OptionId::exchange,       OptionId::chunk_bytes,
        OptionId::chunks_in_flight, OptionId::shm_bytes,      OptionId::compress_if,
        OptionId::tolerance,        OptionId::tuning_file};
    for (const OptionInfo& option : option_table()) {
        const SettingRow& row = setting_of(option.id);
        if (row.read != nullptr && row.shapes_calls &&
            std::find(ids.begin(), ids.end(), option.id) == ids.end())
            ids.push_back(option.id);
    }
    return ids;
}

/// Returns the two thresholds, and of the other settings those that somebody chose.
std::vector<ExplainedSetting> deciding_settings(const SettingsText& text) {
    std::vector<ExplainedSetting> settings;
    for (const OptionId id : deciding_options()) {
        if (id == OptionId::tuning_file && !tuning_file_holds()) continue;
        const bool always = id == OptionId::tree_min_bytes || id == OptionId::compress_bytes;
        if (always || text[id] != info_of(id).default_value)
            settings.push_back(explained(id, text));
    }
    return settings;
}

void add_vertex(const Vertex& vertex, const VertexChoice& choice, ExplainedLevel& level) {
    const int branches = static_cast<int>(vertex.children.size());
    level.least_branches =
        level.vertices == 0 ? branches : std::min(level.least_branches, branches);
    level.most_branches = std::max(level.most_branches, branches);
    ++level.vertices;
    ++level.with[choice.exchange];
    ++level.codecs[choice.codec];
    if (choice.codec != CodecId::exact)
        level.most_encodings_up =
            std::max(level.most_encodings_up, encodings_up(choice.exchange, branches));
}

std::vector<ExplainedLevel> levels_of(const Tree& tree, const PlanSpec& spec) {
    std::vector<ExplainedLevel> levels(static_cast<std::size_t>(tree.height()));
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i].level = static_cast<int>(i);
    for (int id = 0; id < tree.vertex_count(); ++id) {
        if (tree.is_leaf(id)) continue;
        const Vertex& vertex = tree.vertex(id);
        add_vertex(vertex, spec.choices[static_cast<std::size_t>(id)],
                   levels[static_cast<std::size_t>(vertex.height - 1)]);
    }
    return levels;
}

std::string_view source_of(bool said) {
    return said ? "tuning file" : "shipped";
}

/// Returns the source of the figures of the links below a vertex.
std::string link_source_of(const Tree& tree, const Tuning& tuning, int vertex) {
    const auto children = tree.children(vertex);
    const auto known = std::count_if(children.begin(), children.end(), [&](int child) {
        return tree.vertex(child).uplink.bandwidth_gbytes_per_s > 0;
    });
    const std::string_view rest =
        source_of(tuning.links_said[static_cast<std::size_t>(tree.vertex(vertex).kind)]);
    if (known == 0) return std::string(rest);
    if (known == static_cast<std::ptrdiff_t>(children.size())) return "tree";
    return fmt::format("tree and {}", rest);
}

ExplainedTerm term_of(const Tree& tree, const Tuning& tuning, const PlanSpec& spec,
                      const Forecast& forecast, const LevelForecast& level) {
    const Vertex& vertex = tree.vertex(level.vertex);
    ExplainedTerm term;
    term.what = fmt::format("level {} ({})", vertex.height - 1, name_of(vertex.kind));
    term.latency_us = level.latency_us;
    term.link_us = level.link_us;
    term.core_us = level.core_us;
    const LinkFigures link = link_figures(tree, tuning, level.vertex);
    term.alpha_us = link.latency_us;
    term.link_source = link_source_of(tree, tuning, level.vertex);
    term.beta_gbytes_per_s =
        term.link_source == "tree" || connects_hosts(vertex.kind)
            ? link.gbytes_per_s
            : tuning.link_below(vertex.kind).gbytes_per_s.at(forecast.working_set_bytes);
    const CodecId codec = spec.choices.of(level.vertex).codec;
    term.codec_source = source_of(tuning.codecs_said[form_index_of(codec)]);
    return term;
}

std::vector<ExplainedTerm> terms_of(const Tree& tree, const Settings& settings,
                                    const PlanSpec& spec) {
    const Tuning& tuning = *settings.tuning;
    const Forecast forecast = forecast_tree(tree, tuning, spec, settings.chunks_in_flight);
    std::vector<ExplainedTerm> terms;
    for (const LevelForecast& level : forecast.levels)
        if (level.vertex >= 0) terms.push_back(term_of(tree, tuning, spec, forecast, level));
    return terms;
}

ExplainedPlan plan_over_one_host(const ExplainFacts& facts, const CallKey& key) {
    const Tuning& tuning = *facts.settings.tuning;
    const Forecast forecast = forecast_shared_memory(tuning, facts.tree.tree.rank_count(),
                                                     key.count * key.elem_bytes, key.in_place);
    ExplainedTerm term;
    term.what = "shared memory";
    term.latency_us = forecast.latency_us;
    term.link_us = forecast.link_us;
    term.alpha_us = tuning.host_pass.latency_us;
    term.beta_gbytes_per_s = tuning.host_pass.gbytes_per_s.at(forecast.working_set_bytes);
    term.link_source = term.codec_source = source_of(tuning.host_pass_said);
    ExplainedPlan plan;
    plan.terms.push_back(std::move(term));
    plan.predicted_us = forecast.total_us;
    plan.sends.bytes = plan.sends.exact_bytes =
        static_cast<std::uint64_t>(key.count) * key.elem_bytes;
    return plan;
}

Result<ExplainedPlan> plan_for(const ExplainFacts& facts, const CallKey& key) {
    const Tree& tree = facts.tree.tree;
    const Decision decision = decision_for(tree, facts.settings, key);
    const auto plan = make_plan(tree, decision.spec, facts.rank);
    if (!plan) return plan.status();
    ExplainedPlan out;
    GRADCOLL_TRY(take(out.sends, sending_cost_of(tree, *plan)));
    out.builder = decision.spec.builder;
    out.builder_refusal = decision.builder_refusal;
    out.is_predicted = is_predicted(decision.spec);
    if (out.builder == Builder::flexreduce) out.levels = levels_of(tree, decision.spec);
    out.down_codec = decision.spec.down_codec;
    out.granule_elems = decision.spec.granule_elems;
    out.chunk_elems = plan->chunk_count > 1 ? decision.spec.chunk_elems : key.count;
    out.chunk_count = plan->chunk_count;
    out.chunks_in_flight = std::min(facts.settings.chunks_in_flight, facts.most_chunks_in_flight);
    out.predicted_us = decision.predicted_us;
    out.terms = terms_of(tree, facts.settings, decision.spec);
    out.codecs = decision.codecs;
    out.loss_parts = plan->loss_parts;
    return out;
}

Explanation begin_explanation(const ExplainFacts& facts, const CallArguments& call) {
    Explanation out = explain_intercommunicator(call, facts.rank, facts.tree.tree.rank_count());
    out.tree = expression_of(facts.tree.tree);
    out.origin = facts.tree.origin;
    out.settings = deciding_settings(facts.text);
    out.pass_reason.clear();
    return out;
}

/// Returns whether a call that goes through hosts goes over a tree between them. A short exact one
/// does not.
bool goes_between_hosts(const ExplainFacts& facts, const Route& route) {
    const auto bytes = static_cast<std::uint64_t>(route.key.count) * route.key.elem_bytes;
    const bool is_long = bytes >= facts.settings.tree_min_bytes;
    return facts.leaders != nullptr && (route.key.compress || is_long);
}

/// Returns what gc_check=sum looks at.
std::string check_of(const ExplainFacts& facts, const Route& route) {
    if (!facts.settings.check_sums) return {};
    if (route.goes(tree_way())) return "each message has a checksum";
    if (route.goes(hosts_way()) && goes_between_hosts(facts, route))
        return "each message between hosts has a checksum, what is in the memory of hosts has none";
    return fmt::format("nothing is checked of a call that {}", route.way->says);
}

/// Adds how the call goes through hosts. A short exact vector has no plan.
Status add_hosts(const ExplainFacts& facts, const Route& route, Explanation& out) {
    if (!goes_between_hosts(facts, route)) return {};
    out.leaders_tree = expression_of(facts.leaders->tree.tree);
    return take(out.plan, plan_for(*facts.leaders, route.key));
}

Status add_route(const ExplainFacts& facts, const Route& route, Explanation& out) {
    out.check = check_of(facts, route);
    if (route.passes()) {
        out.pass_reason = text_of(route.pass_reason);
        return {};
    }
    out.exact_reason = route.exact_reason != ExactReason::none ? text_of(route.exact_reason) : "";
    out.way = route.way;
    if (route.goes(one_host_way())) {
        out.plan = plan_over_one_host(facts, route.key);
        return {};
    }
    if (route.goes(hosts_way())) return add_hosts(facts, route, out);
    if (!route.way->over_tree) return {};
    GRADCOLL_TRY(take(out.plan, plan_for(facts, route.key)));
    if (!out.plan.sends.lossy && out.exact_reason.empty())
        out.exact_reason = text_of(ExactReason::no_lossy_level);
    return {};
}

}  // namespace

Status check_explained(const CallArguments& call) {
    GRADCOLL_TRY(check_op(call.op));
    GRADCOLL_TRY(check_datatype("datatype", call.datatype));
    return check_count("count", call.count);
}

Result<Explanation> explain(const ExplainFacts& facts, const CallArguments& call,
                            const std::function<Route(const CallShape&)>& route_for) {
    GRADCOLL_TRY(check_explained(call));
    Explanation out = begin_explanation(facts, call);
    const Classified classified = classify(call.count, call.datatype, call.op);
    if (classified.passes() && !classified.shape.by_mpi()) {
        out.pass_reason = text_of(classified.pass_reason);
        return out;
    }
    if (out.rank_count == 1) {
        out.is_alone = true;
        out.exact_reason = "nothing is sent";
        return out;
    }
    GRADCOLL_TRY(add_route(facts, route_for(classified.shape), out));
    return out;
}

Explanation explain_intercommunicator(const CallArguments& call, int rank, int rank_count) {
    Explanation out;
    out.count = call.count;
    out.datatype = name_of_type(call.datatype);
    out.op = name_of_op(call.op);
    out.size_bytes = bytes_of(call);
    out.rank = rank;
    out.rank_count = rank_count;
    out.pass_reason = "comm is an intercommunicator, which has no tree";
    out.exact_reason = "the MPI library sums exactly";
    return out;
}

}  // namespace gradcoll
