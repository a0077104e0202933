// writers/columns.cpp - the names and the order of the columns.
#include "writers/writers.hpp"

namespace gradcoll::bench {
namespace {

Value integer(auto value) {
    return static_cast<std::int64_t>(value);
}
Value yes_or_no_value(bool value) {
    return std::string(value ? "yes" : "no");
}

std::string joined_settings(const Options& options) {
    std::string text;
    for (const auto& [key, value] : options.settings) {
        text += (text.empty() ? "" : ";") + key + "=" + value;
    }
    return text;
}

void add_configuration(Columns& columns, const Options& options, const Row& row) {
    columns.insert(columns.end(), {
                                      {"ranks", integer(row.ranks)},
                                      {"tree", options.tree},
                                      {"tree_used", row.tree_used},
                                      {"codec", row.codec},
                                      {"type", std::string(options.element->name)},
                                      {"op", options.op},
                                      {"data", options.data},
                                      {"seed", integer(options.seed)},
                                      {"in_place", yes_or_no_value(options.in_place)},
                                      {"feedback", yes_or_no_value(options.feedback)},
                                      {"settings", joined_settings(options)},
                                      {"size_bytes", integer(row.size_bytes)},
                                      {"count", integer(row.count)},
                                      {"iterations", integer(row.iterations)},
                                      {"repeats", integer(options.repeats)},
                                      {"batch", integer(row.batch)},
                                      {"sync", std::string(name_of(options.sync))},
                                      {"peer", options.peer},
                                      {"device", options.device},
                                  });
}

void add_times(Columns& columns, const Row& row) {
    columns.insert(columns.end(), {
                                      {"avg_us", row.ours.avg_us},
                                      {"min_us", row.ours.min_us},
                                      {"max_us", row.ours.max_us},
                                      {"peer_avg_us", row.peer.avg_us},
                                      {"peer_min_us", row.peer.min_us},
                                      {"peer_max_us", row.peer.max_us},
                                      {"ratio", row.ratio.median},
                                      {"ratio_min", row.ratio.min},
                                      {"ratio_q1", row.ratio.lower_quartile},
                                      {"ratio_q3", row.ratio.upper_quartile},
                                      {"ratio_max", row.ratio.max},
                                      {"algbw_gbs", row.algbw_gbs},
                                      {"busbw_gbs", row.busbw_gbs},
                                      {"wire_max_bytes", row.wire_max_bytes},
                                      {"wire_sum_bytes", row.wire_sum_bytes},
                                      {"path", row.path},
                                  });
}

void add_verdict(Columns& columns, const Row& row) {
    const std::optional<Verdict>& verdict = row.verdict;
    const bool known = verdict.has_value();
    columns.emplace_back("max_abs_err", known ? Value(verdict->max_abs_err) : Value());
    columns.emplace_back("rel_l2_err", known ? Value(verdict->rel_l2_err) : Value());
    columns.emplace_back("wrong_ranks", known ? integer(verdict->wrong_ranks) : Value());
    columns.emplace_back("check",
                         known ? Value(std::string(verdict->passed ? "pass" : "fail")) : Value());
    const std::optional<Verdict>& peer = row.peer_verdict;
    columns.emplace_back("peer_max_abs_err", peer ? Value(peer->max_abs_err) : Value());
    columns.emplace_back("peer_rel_l2_err", peer ? Value(peer->rel_l2_err) : Value());
    columns.emplace_back("unlike_host_ranks",
                         row.unlike_host_ranks ? integer(*row.unlike_host_ranks) : Value());
}

}  // namespace

Columns columns_of(const Options& options, const Row& row) {
    Columns columns;
    add_configuration(columns, options, row);
    add_times(columns, row);
    add_verdict(columns, row);
    return columns;
}

}  // namespace gradcoll::bench
