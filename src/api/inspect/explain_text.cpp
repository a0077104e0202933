// api/inspect/explain_text.cpp - an explanation as text and as JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/inspect/explain.hpp"
#include "base/text.hpp"
#include "collectives/build/builder.hpp"
#include "collectives/draw/decision_text.hpp"
#include "collectives/exchange/exchange.hpp"

namespace gradcoll {
namespace {

std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string exchange_text(const ExplainedLevel& level) {
    std::string text;
    for (const auto& [exchange, vertices] : level.with) {
        const std::string_view name = name_of(exchange);
        if (vertices == level.vertices)
            return exchange == Exchange::merged ? "merged with the level above"
                                                : fmt::format("{} exchange", name);
        text += fmt::format("{}{} at {}", text.empty() ? "" : ", ",
                            text.empty() && exchange != Exchange::merged
                                ? fmt::format("{} exchange", name)
                                : std::string(name),
                            vertices);
    }
    return text;
}

/// Returns "2:4", or "exact at 3, 2:4 at 1" if the kind of link decides.
std::string codec_text(const ExplainedLevel& level) {
    std::string text;
    for (const auto& [codec, vertices] : level.codecs) {
        if (vertices == level.vertices) return std::string(name_of(codec));
        text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", name_of(codec), vertices);
    }
    return text;
}

std::string level_text(const ExplainedLevel& level) {
    const std::string branches =
        level.least_branches == level.most_branches
            ? fmt::format("{}", level.most_branches)
            : fmt::format("{} to {}", level.least_branches, level.most_branches);
    return fmt::format("  level {}: {} of {} branches, {}, {}\n", level.level,
                       counted(level.vertices, "vertex", "vertices"), branches,
                       exchange_text(level), codec_text(level));
}

std::string chunk_text(const ExplainedPlan& plan) {
    const std::string granule = fmt::format("cut at multiples of {} elements", plan.granule_elems);
    if (plan.chunk_count <= 1) return fmt::format("  in one piece, {}\n", granule);
    return fmt::format("  in {} chunks of {} elements, {} under way at once, {}\n",
                       plan.chunk_count, plan.chunk_elems, plan.chunks_in_flight, granule);
}

std::string sends_text(const Explanation& e) {
    const SendingCost& sends = e.plan.sends;
    std::string text =
        fmt::format("  rank {} sends {}{} bytes ({}) in {}", e.rank,
                    sends.depends_on_data ? "at most " : "", sends.bytes, bytes_text(sends.bytes),
                    counted(static_cast<std::int64_t>(sends.messages), "message", "messages"));
    if (sends.depends_on_data)
        text += fmt::format("; how many depends on the data; exact it would be {} bytes",
                            sends.exact_bytes);
    else if (sends.lossy && sends.bytes > 0)
        text +=
            fmt::format("; exact it would be {} bytes, {:.3g} times as many", sends.exact_bytes,
                        static_cast<double>(sends.exact_bytes) / static_cast<double>(sends.bytes));
    text += "\n";
    const LossParts& parts = e.plan.loss_parts;
    if (parts.largest > 1)
        text += fmt::format(
            "  what an element's sum may lose is dealt out in {} parts: up to {} for an encoding\n",
            parts.together, parts.largest);
    else if (parts.together > 0)
        text += fmt::format("  the error of an element's sum is that of at most {} together\n",
                            counted(parts.together, "encoding", "encodings"));
    return text;
}

std::string codecs_text(const ExplainedPlan& plan, std::string_view indent = "") {
    std::string text;
    for (const CodecVerdict& verdict : plan.codecs) text.append(indent) += text_of(verdict);
    return text;
}

/// Returns the alpha and beta of every level, the time of one chunk with them, and the sum.
std::string prediction_text(const ExplainedPlan& plan) {
    std::string text;
    for (const ExplainedTerm& term : plan.terms)
        text += fmt::format(
            "  {}: {} of latency (alpha {:.3g} us) + {} for bytes (beta {:.3g} GB/s; both: {}) + "
            "{} "
            "on cores ({})\n",
            term.what, seconds_text(term.latency_us * 1e-6), term.alpha_us,
            seconds_text(term.link_us * 1e-6), term.beta_gbytes_per_s, term.link_source,
            seconds_text(term.core_us * 1e-6), term.codec_source);
    if (!plan.is_predicted)
        return fmt::format("  not predicted: the model knows the plans of {} alone\n",
                           name_of(Builder::flexreduce));
    return text + codecs_text(plan, "  ") +
           fmt::format(
               "  about {} by the model that chose the plan: for comparing, not a promise\n",
               seconds_text(plan.predicted_us * 1e-6));
}

nlohmann::json terms_json(const ExplainedPlan& plan) {
    auto terms = nlohmann::json::array();
    for (const ExplainedTerm& term : plan.terms)
        terms.push_back({{"what", term.what},
                         {"latency_us", term.latency_us},
                         {"link_us", term.link_us},
                         {"core_us", term.core_us},
                         {"alpha_us", term.alpha_us},
                         {"beta_gbytes_per_s", term.beta_gbytes_per_s},
                         {"link_source", term.link_source},
                         {"codec_source", term.codec_source}});
    return terms;
}

std::string plan_text(const Explanation& e) {
    std::string text = "plan\n";
    if (const std::string line = builder_text(e.plan.builder, e.plan.builder_refusal);
        !line.empty())
        text += "  " + line;
    for (const ExplainedLevel& level : e.plan.levels) text += level_text(level);
    text += fmt::format("  on the way down: {}\n", name_of(e.plan.down_codec));
    text += chunk_text(e.plan) + sends_text(e);
    return text + prediction_text(e.plan);
}

std::string hosts_text(const Explanation& e) {
    const std::string how =
        e.exact_reason.empty() ? "compressed" : fmt::format("exact: {}", e.exact_reason);
    if (e.leaders_tree.empty())
        return fmt::format(
            "goes through the memory of each host, and between hosts by the MPI library, {}\n",
            how);
    return fmt::format(
        "goes through the memory of each host, and between hosts over the tree {} of one rank "
        "each, {}\n",
        e.leaders_tree, how);
}

std::string route_text(const Explanation& e) {
    if (e.is_alone) return "stays on its one rank: the vector is copied, nothing is sent\n";
    if (e.way == &mpi_way()) return fmt::format("passes to MPI_Allreduce: {}\n", e.pass_reason);
    if (e.way == &hosts_way()) return hosts_text(e);
    if (e.exact_reason.empty()) return fmt::format("{}, compressed\n", e.way->says);
    return fmt::format("{}, exact: {}\n", e.way->says, e.exact_reason);
}

std::string settings_text(const Explanation& e) {
    if (e.settings.empty()) return {};
    std::string text = "decided by\n";
    for (const ExplainedSetting& setting : e.settings)
        text += fmt::format("  {} = {} ({})\n", setting.name, setting.value, setting.source);
    return text;
}

nlohmann::json plan_json(const ExplainedPlan& plan) {
    auto levels = nlohmann::json::array();
    for (const ExplainedLevel& level : plan.levels) {
        levels.push_back({{"level", level.level},
                          {"vertices", level.vertices},
                          {"least_branches", level.least_branches},
                          {"most_branches", level.most_branches},
                          {"codec", codec_text(level)},
                          {"most_encodings_up", level.most_encodings_up}});
        for (const Exchange exchange : all_exchanges())
            levels.back()[std::string(name_of(exchange))] =
                level.with.contains(exchange) ? level.with.at(exchange) : 0;
    }
    return {
        {"builder", name_of(plan.builder)},
        {"builder_why", plan.builder_refusal},
        {"levels", levels},
        {"down_codec", name_of(plan.down_codec)},
        {"loss_parts", plan.loss_parts.together},
        {"largest_loss_part", plan.loss_parts.largest},
        {"granule_elems", plan.granule_elems},
        {"chunk_elems", plan.chunk_elems},
        {"chunks", plan.chunk_count},
        {"chunks_in_flight", plan.chunks_in_flight},
        {"predicted_us", plan.is_predicted ? nlohmann::json(plan.predicted_us) : nlohmann::json()},
        {"terms", terms_json(plan)},
        {"codec_why", codecs_text(plan)}};
}

bool has_plan(const Explanation& e) {
    return (e.way->over_tree && !e.is_alone) || !e.leaders_tree.empty();
}

}  // namespace

std::string text_of(const Explanation& e) {
    std::string text =
        fmt::format("allreduce of {} {}, {}: {} on {}\n", e.count, e.datatype, e.op,
                    bytes_text(e.size_bytes), counted(e.rank_count, "rank", "ranks"));
    if (!e.tree.empty()) text += fmt::format("tree {} ({})\n", e.tree, e.origin);
    text += route_text(e);
    if (!e.check.empty()) text += fmt::format("gc_check=sum: {}\n", e.check);
    if (has_plan(e)) text += plan_text(e);
    if (e.way == &one_host_way()) text += "prediction\n" + prediction_text(e.plan);
    return text + settings_text(e);
}

std::string json_of(const Explanation& e) {
    const bool on_tree = has_plan(e);
    nlohmann::json json = {
        {"call",
         {{"count", e.count}, {"datatype", e.datatype}, {"op", e.op}, {"bytes", e.size_bytes}}},
        {"ranks", e.rank_count},
        {"rank", e.rank},
        {"tree", e.tree},
        {"tree_origin", e.origin},
        {"route", e.is_alone ? "local" : e.way->name},
        {"pass_reason", e.pass_reason},
        {"compressed", on_tree && e.exact_reason.empty()},
        {"exact_reason", e.exact_reason},
        {"check", e.check},
        {"sends",
         {{"bytes", e.plan.sends.bytes},
          {"exact_bytes", e.plan.sends.exact_bytes},
          {"depends_on_data", e.plan.sends.depends_on_data},
          {"messages", e.plan.sends.messages}}}};
    if (!e.leaders_tree.empty()) json["leaders_tree"] = e.leaders_tree;
    if (on_tree) json["plan"] = plan_json(e.plan);
    if (e.way == &one_host_way())
        json["prediction"] = {{"predicted_us", e.plan.predicted_us}, {"terms", terms_json(e.plan)}};
    json["settings"] = nlohmann::json::array();
    for (const ExplainedSetting& setting : e.settings)
        json["settings"].push_back(
            {{"name", setting.name}, {"value", setting.value}, {"source", setting.source}});
    return json.dump(2, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace) +
           "\n";
}

}  // namespace gradcoll
