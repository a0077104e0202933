// report/report_json.cpp - the form for programs; docs/report.md describes it.
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "report/rows.hpp"
#include "report/snapshot.hpp"

namespace gradcoll {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The version goes up when a reader of the older form would misread the newer one; new members
/// alone do not count.
constexpr int schema_version = 1;

void add_sums(OrderedJson& object, const CallSums& sums) {
    object["calls"] = sums.calls;
    object["on_tree"] = sums.served;  // the name is older than the way through shared memory
    object["over_shared_memory"] = sums.over_shared_memory;
    object["compressed"] = sums.compressed;
    object["passed"] = sums.passed;
    object["bytes_in"] = sums.bytes_in;
    object["bytes_sent"] = sums.bytes_sent;
    object["bytes_sent_exact"] = sums.bytes_sent_exact;
    object["bytes_packed_away"] = sums.packed_away_bytes;
    object["messages_sent"] = sums.messages_sent;
    object["seconds"] = seconds_of(sums.total_ns);
    object["codec_seconds"] = seconds_of(sums.codec_ns);
    object["wire_seconds"] = seconds_of(sums.wire_ns);
}

void add_saved(OrderedJson& object, const std::optional<double>& saved) {
    object["saved_seconds_estimate"] = saved ? OrderedJson(*saved) : OrderedJson();
}

void add_size(OrderedJson& object, int size_bin) {
    object["bytes_from"] = size_bin_begin(size_bin);
    const std::uint64_t end = size_bin_end(size_bin);
    object["bytes_below"] = end > 0 ? OrderedJson(end) : OrderedJson();
}

OrderedJson json_of(const std::vector<TextCount>& counts) {
    OrderedJson object = OrderedJson::object();
    for (const TextCount& one : counts) object[one.text] = one.calls;
    return object;
}

OrderedJson json_of(const CallCell& cell) {
    OrderedJson object;
    object["call"] = name_of(cell.kind);
    add_size(object, cell.size_bin);
    add_sums(object, cell.all);
    add_saved(object, cell.saved_seconds());
    object["pass_reasons"] = json_of(cell.reasons);
    object["builders"] = json_of(cell.builders);
    if (!cell.agents.empty()) object["agents"] = json_of(cell.agents);
    return object;
}

OrderedJson json_of(const ErrorCell& cell) {
    OrderedJson object;
    add_size(object, cell.size_bin);
    object["measurements"] = cell.measurements;
    object["max_abs"] = cell.max_abs;
    if (cell.promises > 0) {
        object["promises"] = cell.promises;
        object["least_promised_abs"] = cell.least_promised;
        object["most_of_promise"] = cell.most_of_promise;
    }
    object["max_relative_l2"] = cell.max_relative_l2;
    object["mean_relative_l2"] = cell.mean_relative_l2();
    return object;
}

OrderedJson json_of(const TreeUse& tree) {
    return {{"expression", tree.expression},
            {"origin", tree.origin},
            {"communicators", tree.communicators}};
}

OrderedJson json_of(const CodecLeftOut& one) {
    OrderedJson object;
    object["bytes"] = one.bytes;
    object["level"] = one.level < 0 ? OrderedJson() : OrderedJson(one.level);
    object["codec"] = one.codec;
    object["predicted_seconds"] = one.compressed_us * 1e-6;
    object["predicted_seconds_exact"] = one.exact_us * 1e-6;
    return object;
}

OrderedJson json_of(const WayTrial& trial) {
    return {{"bytes", trial.bytes},
            {"seconds", trial.ours_us * 1e-6},
            {"seconds_by_mpi", trial.mpi_us * 1e-6},
            {"passes", trial.passes}};
}

OrderedJson json_of(const RankSums& one) {
    OrderedJson object = {{"rank", one.rank}, {"host", one.host}};
    add_sums(object, one.sums);
    return object;
}

OrderedJson json_of(const EngineSums& sums) {
    const EngineFigures& figures = sums.figures;
    OrderedJson object;
    object["engines"] = sums.engines;
    object["sums"] = figures.sums;
    object["failed"] = figures.failed;
    object["packed"] = figures.packed;
    object["packs"] = figures.packs;
    object["packed_bytes"] = figures.packed_bytes;
    object["busy_seconds"] = seconds_of(figures.busy_ns);
    object["waited_seconds"] = seconds_of(figures.waited_ns);
    object["overlap"] = sums.overlap() ? OrderedJson(*sums.overlap()) : OrderedJson();
    object["held_seconds"] = seconds_of(figures.held_ns);
    object["summed_seconds"] = seconds_of(figures.summed_ns);
    object["most_held"] = figures.most_held;
    object["most_running"] = figures.most_running;
    object["stalls"] = figures.stalls;
    object["planned_anew"] = figures.planned_anew;
    object["links_carry"] = figures.links_carry;
    object["told_messages"] = figures.told_messages;
    object["told_bytes"] = figures.told_bytes;
    return object;
}

OrderedJson json_of(const SiteCalls& site) {
    OrderedJson object;
    object["from"] = site.place;
    object["call"] = name_of(site.kind);
    add_sums(object, site.sums);
    return object;
}

template <class T>
OrderedJson list_of(const std::vector<T>& items) {
    OrderedJson list = OrderedJson::array();
    for (const T& item : items) list.push_back(json_of(item));
    return list;
}

OrderedJson json_of(const CommEntry& entry) {
    OrderedJson object;
    object["name"] = entry.name;
    object["ranks"] = entry.rank_count > 0 ? OrderedJson(entry.rank_count) : OrderedJson();
    object["communicators"] = entry.communicators;
    object["trees"] = list_of(entry.trees);
    object["trees_not_listed"] = entry.trees_not_listed;
    object["calls"] = list_of(entry.calls);
    object["codecs_left_out"] = list_of(entry.left_out);
    object["codecs_left_out_not_listed"] = entry.left_out_not_listed;
    object["errors"] = list_of(entry.errors);
    if (!entry.trials.empty()) object["trials"] = list_of(entry.trials);
    if (entry.engines.engines > 0) object["engines"] = json_of(entry.engines);
    return object;
}

OrderedJson json_of(const NicFigures& figures) {
    return {
        {"frames_sent", figures.frames_sent},       {"bytes_sent", figures.bytes_sent},
        {"frames_coded", figures.frames_coded},     {"detoured_frames", figures.detoured_frames},
        {"detoured_bytes", figures.detoured_bytes}, {"lost_ranks", figures.lost_ranks}};
}

OrderedJson json_of_process(const ReportSnapshot& report) {
    const ReportProcess& process = report.process;
    return {{"gradcoll", process.version},
            {"mpi", process.mpi},
            {"host", process.host},
            {"process_id", process.process_id},
            {"rank", process.world_rank},
            {"ranks", process.world_size},
            {"command", process.command.empty() ? OrderedJson() : OrderedJson(process.command)},
            {"start", utc_text(report.start_unix_ns)},
            {"seconds", report.seconds}};
}

}  // namespace

std::string report_json(const ReportSnapshot& report) {
    OrderedJson object;
    object["schema"] = "gradcoll-report";
    object["schema_version"] = schema_version;
    object["process"] = json_of_process(report);
    OrderedJson comms = OrderedJson::array();
    for (const CommEntry& comm : report.comms) comms.push_back(json_of(comm));
    object["communicators"] = std::move(comms);
    const ReportTotal total = total_of(report);
    OrderedJson sums;
    add_sums(sums, total.sums);
    add_saved(sums, total.saved_seconds);
    object["total"] = std::move(sums);
    if (!report.ranks.empty()) object["ranks"] = list_of(report.ranks);
    if (!report.sites.empty()) {
        object["sites"] = list_of(report.sites);
        object["sites_not_listed"] = report.sites_not_listed;
    }
    if (report.nic.any()) object["nic"] = json_of(report.nic);
    constexpr int indent = 1;
    return object.dump(indent, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace gradcoll
