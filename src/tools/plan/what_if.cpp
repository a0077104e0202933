#include "reports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "collectives/predict/tuning_file/tuning_file.hpp"

namespace gradcoll::plan {
namespace {

/// Returns the most bytes that one uplink below the vertices of each level carries, in each
/// direction.
std::vector<std::uint64_t> bytes_by_level(const Tree& tree, const Forecast& forecast) {
    std::vector<std::uint64_t> levels(static_cast<std::size_t>(tree.height()), 0);
    for (int id = 1; id < tree.vertex_count(); ++id) {
        const int level = tree.vertex(tree.vertex(id).parent).height - 1;
        std::uint64_t& most = levels[static_cast<std::size_t>(level)];
        most = std::max(most, static_cast<std::uint64_t>(
                                  forecast.bytes_on_links[static_cast<std::size_t>(id)]));
    }
    return levels;
}

std::string chunk_text(const Way& way, const PlanSpec& call) {
    if (way.chunk_elems == 0 || way.chunk_elems >= call.count_elems) return "whole";
    return bytes_text(static_cast<std::uint64_t>(way.chunk_elems) * call.elem_bytes);
}

void write_levels(const Tree& tree, const Way& way, std::string& text) {
    fmt::format_to(std::back_inserter(text), "  {}, {}:", way.algorithm, way.codecs);
    const std::vector<std::uint64_t> levels = bytes_by_level(tree, way.forecast);
    for (std::size_t i = 0; i < levels.size(); ++i)
        fmt::format_to(std::back_inserter(text), "{} level {} {}", i == 0 ? "" : ",", i,
                       bytes_text(levels[i]));
    text += '\n';
}

std::string text_report(const Subject& subject, const Options& options,
                        const std::vector<Way>& ways, std::size_t shown) {
    const PlanSpec& call = options.call;
    std::string text = fmt::format(
        "tree: {}, {} ({})\nallreduce of {} {}, {}: predicted; auto is what the library would "
        "choose, then exact ways, then those that lose precision (*), each fastest first\n",
        counted(subject.tree.rank_count(), "rank"), counted(subject.tree.height(), "level"),
        subject.origin, call.count_elems, name_of(call.type),
        bytes_text(static_cast<std::uint64_t>(call.count_elems) * call.elem_bytes));
    auto out = std::back_inserter(text);
    fmt::format_to(out, "{:>9}  {:<26} {:<14} {:>9}  {}\n", "time", "algorithm", "codec by level",
                   "chunk", "bound by");
    for (std::size_t i = 0; i < shown; ++i) {
        const Way& way = ways[i];
        fmt::format_to(out, "{:>9}  {:<26} {:<14} {:>9}  {}\n",
                       seconds_text(way.forecast.total_us * 1e-6), way.algorithm,
                       way.codecs + (way.lossy ? " *" : ""), chunk_text(way, call), way.why);
    }
    text += "most bytes on one link below each level, each direction:\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(shown, 3); ++i)
        write_levels(subject.tree, ways[i], text);
    const auto plain = std::find_if(ways.begin(), ways.end(), [](const Way& way) {
        return way.algorithm == "flat ring, ranks in order" && !way.lossy;
    });
    if (plain != ways.end() && plain - ways.begin() >= 3) write_levels(subject.tree, *plain, text);
    for (const CodecId codec : codecs_to_be_told(options))
        text += fmt::format("left out: {0}, which needs a tolerance: --codec {0}/abs=NUMBER\n",
                            name_of(codec));
    return text + "for comparing, not promises: links alone with this call, no rank late\n";
}

nlohmann::json json_of(const Subject& subject, const Way& way) {
    const Forecast& f = way.forecast;
    nlohmann::json slowest;
    if (f.slowest_link >= 0)
        slowest = {{"vertex", f.slowest_link},
                   {"path", path_of(subject.tree, f.slowest_link)},
                   {"kind", name_of(subject.tree.vertex(f.slowest_link).kind)},
                   {"name", subject.tree.vertex(f.slowest_link).name},
                   {"bytes", f.bytes_on_links[static_cast<std::size_t>(f.slowest_link)]},
                   {"busy_us", f.slowest_link_us}};
    return {
        {"time_us", f.total_us},
        {"algorithm", way.algorithm},
        {"codecs", way.codecs},
        {"lossy", way.lossy},
        {"chunk_elems", way.chunk_elems},
        {"chunks", f.chunks},
        {"bound", name_of(f.bound)},
        {"why", way.why},
        {"first_chunk_us", {{"link", f.link_us}, {"core", f.core_us}, {"latency", f.latency_us}}},
        {"core_us", f.core_total_us},
        {"slowest_link", std::move(slowest)},
        {"bytes_by_level", bytes_by_level(subject.tree, f)}};
}

}  // namespace

std::string what_if_report(const Subject& subject, const Options& options) {
    const std::vector<Way> ways = ways_of(subject, options);
    const std::size_t shown = options.top == 0
                                  ? ways.size()
                                  : std::min(ways.size(), static_cast<std::size_t>(options.top));
    if (!options.json) return text_report(subject, options, ways, shown);
    nlohmann::json left_out = nlohmann::json::array();
    for (const CodecId codec : codecs_to_be_told(options)) left_out.push_back(name_of(codec));
    nlohmann::json rows = nlohmann::json::array();
    for (std::size_t i = 0; i < shown; ++i) rows.push_back(json_of(subject, ways[i]));
    const nlohmann::json report = {
        {"tree", json_of_tree(subject)},
        {"call",
         {{"count", options.call.count_elems},
          {"type", name_of(options.call.type)},
          {"bytes", options.call.count_elems * options.call.elem_bytes}}},
        {"tuning", nlohmann::json::parse(text_of(*subject.tuning))},
        {"chunks_in_flight", options.policy.chunks_in_flight},
        {"codecs_to_be_told", std::move(left_out)},
        {"ways", std::move(rows)}};
    return dumped(report);
}

}  // namespace gradcoll::plan
