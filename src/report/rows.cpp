#include "report/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

std::string or_dash(bool known, const std::string& text) {
    return known ? text : "-";
}

std::string time_or_dash(std::uint64_t ns) {
    return or_dash(ns > 0, seconds_text(seconds_of(ns)));
}

/// Returns how many times more the exact codec would have sent.
std::string ratio_text(const CallSums& sums) {
    if (sums.bytes_sent == 0) return "-";
    return fmt::format("{:.2f}", static_cast<double>(sums.bytes_sent_exact) /
                                     static_cast<double>(sums.bytes_sent));
}

std::string mean_text(std::uint64_t sum_ns, std::uint64_t count) {
    return seconds_text(seconds_of(sum_ns) /
                        static_cast<double>(std::max<std::uint64_t>(count, 1)));
}

using Counts = std::map<std::string_view, std::uint64_t>;

void add_counted(std::string_view what, std::string_view by, const Counts& counts,
                 std::vector<Counted>& lines) {
    std::multimap<std::uint64_t, std::string_view, std::greater<>> by_count;
    for (const auto& [name, calls] : counts) by_count.emplace(calls, name);
    for (const auto& [calls, name] : by_count)
        lines.push_back({what, count_text(calls), fmt::format("{}{}", by, name)});
}

}  // namespace

std::string shortened(std::string_view text) {
    constexpr std::size_t longest_shown = 160;
    std::string result(text.substr(0, longest_shown));
    for (char& c : result)
        if (static_cast<unsigned char>(c) < ' ') c = '?';
    return text.size() > longest_shown ? result + "..." : result;
}

Row call_row(const CallCell& cell) {
    const CallSums& sums = cell.all;
    const auto saved = cell.saved_seconds();
    return {size_bin_label(cell.size_bin),
            count_text(sums.calls),
            count_text(sums.served),
            count_text(sums.compressed),
            count_text(sums.passed),
            bytes_text(sums.bytes_in),
            or_dash(sums.served > 0, bytes_text(sums.bytes_sent)),
            ratio_text(sums),
            time_or_dash(sums.total_ns),
            time_or_dash(sums.codec_ns),
            time_or_dash(sums.wire_ns),
            or_dash(saved.has_value(), seconds_text(saved.value_or(0)))};
}

Row error_row(const ErrorCell& error) {
    return {size_bin_label(error.size_bin), count_text(error.measurements),
            fmt::format("{:.3g}", error.max_abs), fmt::format("{:.3g}", error.max_relative_l2),
            fmt::format("{:.3g}", error.mean_relative_l2())};
}

std::vector<std::string> promise_lines(const CommEntry& comm) {
    std::vector<std::string> lines;
    for (const ErrorCell& error : comm.errors)
        if (error.promises > 0)
            lines.push_back(fmt::format(
                "{:>8}: at most {:.3g} of what gc_tolerance promised, {:.3g} or more",
                size_bin_label(error.size_bin), error.most_of_promise, error.least_promised));
    return lines;
}

Row left_out_row(const CodecLeftOut& one) {
    return {bytes_text(one.bytes), one.codec,
            one.level < 0 ? "memory of one host" : fmt::format("level {}", one.level),
            seconds_text(one.compressed_us * 1e-6), seconds_text(one.exact_us * 1e-6)};
}

std::vector<std::string> left_out_rest(const CommEntry& comm) {
    if (comm.left_out_not_listed == 0) return {};
    return {fmt::format("and {} more", count_text(comm.left_out_not_listed))};
}

Row trial_row(const WayTrial& trial) {
    return {bytes_text(trial.bytes), seconds_text(trial.ours_us * 1e-6),
            seconds_text(trial.mpi_us * 1e-6), seconds_text((trial.mpi_us - trial.ours_us) * 1e-6),
            trial.passes ? "such calls pass" : "they do not pass"};
}

std::string comm_title(const CommEntry& comm) {
    std::string title = comm.name.empty() ? "(no name)" : shortened(comm.name);
    if (comm.rank_count > 0)
        title += ", " + counted(static_cast<std::uint64_t>(comm.rank_count), "rank");
    if (comm.communicators > 1) title += fmt::format(", {} communicators", comm.communicators);
    return title;
}

std::vector<std::string> tree_lines(const CommEntry& comm) {
    std::vector<std::string> lines;
    for (const TreeUse& tree : comm.trees) {
        std::string line = "tree " + shortened(tree.expression);
        if (!tree.origin.empty()) line += fmt::format("  ({})", shortened(tree.origin));
        if (comm.communicators > 1) line += fmt::format(", {} times", tree.communicators);
        lines.push_back(std::move(line));
    }
    if (comm.trees_not_listed > 0)
        lines.push_back(fmt::format("other trees, {} times", comm.trees_not_listed));
    return lines;
}

std::size_t end_of_kind(const CommEntry& comm, std::size_t first) {
    std::size_t last = first;
    while (last < comm.calls.size() && comm.calls[last].kind == comm.calls[first].kind) ++last;
    return last;
}

std::vector<Counted> counted_lines(const CommEntry& comm, std::size_t first, std::size_t last) {
    Counts reasons, builders, agents;
    for (std::size_t i = first; i < last; ++i) {
        for (const TextCount& one : comm.calls[i].reasons) reasons[one.text] += one.calls;
        for (const TextCount& one : comm.calls[i].builders) builders[one.text] += one.calls;
        for (const TextCount& one : comm.calls[i].agents) agents[one.text] += one.calls;
    }
    std::vector<Counted> lines;
    add_counted("passed", "", reasons, lines);
    add_counted("built", "by ", builders, lines);
    add_counted("agents", "", agents, lines);
    return lines;
}

std::vector<std::string> process_lines(const ReportSnapshot& report) {
    const ReportProcess& process = report.process;
    std::vector<std::string> lines = {
        fmt::format("rank {} of {}, host {}, process {}; {}, {}", process.world_rank,
                    process.world_size, shortened(process.host), process.process_id,
                    utc_text(report.start_unix_ns), seconds_text(report.seconds))};
    if (!process.mpi.empty()) lines.push_back("MPI: " + shortened(process.mpi));
    if (!process.command.empty()) lines.push_back("command: " + shortened(process.command));
    return lines;
}

/// Returns "96 packs of 240 KiB", with their mean size.
std::string packs_text(const EngineFigures& figures) {
    const std::string packs = counted(figures.packs, "pack");
    if (figures.packs == 0) return packs;
    return fmt::format("{} of {}", packs, bytes_text(figures.packed_bytes / figures.packs));
}

std::vector<std::string> engine_lines(const CommEntry& comm) {
    const EngineSums& sums = comm.engines;
    if (sums.engines == 0) return {};
    const EngineFigures& figures = sums.figures;
    std::vector<std::string> lines = {
        fmt::format("{}: {} of gradients, {} failed; {} in {}", counted(sums.engines, "engine"),
                    counted(figures.sums, "sum"), count_text(figures.failed),
                    count_text(figures.packed), packs_text(figures))};
    if (const auto overlap = sums.overlap())
        lines.push_back(fmt::format("busy {}, of which the program waited {}: overlap {:.0f} %",
                                    seconds_text(seconds_of(figures.busy_ns)),
                                    seconds_text(seconds_of(figures.waited_ns)), 100 * *overlap));
    lines.push_back(fmt::format("a gradient waited {} for its begin, its sum took {} (means)",
                                mean_text(figures.held_ns, figures.sums),
                                mean_text(figures.summed_ns, figures.sums)));
    lines.push_back(fmt::format("at most {} waiting, {} under way; {} sent to agree, {}; {}",
                                count_text(figures.most_held), count_text(figures.most_running),
                                counted(figures.told_messages, "message"),
                                bytes_text(figures.told_bytes), counted(figures.stalls, "stall")));
    if (figures.planned_anew > 0)
        lines.push_back(
            fmt::format("planned anew {}: links between hosts carried {:.2g} of what was said",
                        counted(figures.planned_anew, "time"), figures.links_carry));
    return lines;
}

std::vector<std::string> nic_lines(const NicFigures& figures) {
    if (!figures.any()) return {};
    std::vector<std::string> lines = {
        fmt::format("NIC agents: {}, {} handed over; {} of them to be encoded",
                    counted(figures.frames_sent, "frame"), bytes_text(figures.bytes_sent),
                    count_text(figures.frames_coded))};
    if (figures.lost_ranks > 0 || figures.detoured_frames > 0)
        lines.push_back(fmt::format(
            "{} lost to them; {}, {} went round them", counted(figures.lost_ranks, "rank"),
            counted(figures.detoured_frames, "frame"), bytes_text(figures.detoured_bytes)));
    return lines;
}

namespace {

/// Returns the line on what was saved. Late ranks and latency make the estimate too high, so it is
/// called a bound.
std::string saved_line(double seconds) {
    constexpr std::string_view formula = "wire x (exact / sent - 1) - codec";
    if (seconds >= 0)
        return fmt::format("compression saved at most about {}: {}; late ranks count as wire",
                           seconds_text(seconds), formula);
    return fmt::format("compression cost about {}: {}", seconds_text(-seconds), formula);
}

/// Returns the way of a call. What goes through the memory of a host is no message.
std::string way_of(const CallSums& sums) {
    if (sums.messages_sent > 0) return "in " + counted(sums.messages_sent, "message");
    return "through the memory of one host";
}

}  // namespace

Row site_row(const SiteCalls& site) {
    const CallSums& sums = site.sums;
    return {count_text(sums.calls),
            count_text(sums.served),
            count_text(sums.passed),
            bytes_text(sums.bytes_in),
            sums.total_ns > 0 ? seconds_text(seconds_of(sums.total_ns)) : "-",
            std::string(name_of(site.kind)),
            shortened(site.place)};
}

std::vector<std::string> sites_rest(const ReportSnapshot& report) {
    if (report.sites_not_listed == 0) return {};
    return {fmt::format("and {} with less time", counted(report.sites_not_listed, "place"))};
}

std::vector<std::string> total_lines(const ReportSnapshot& report) {
    const ReportTotal total = total_of(report);
    const CallSums& sums = total.sums;
    std::vector<std::string> lines = {
        fmt::format("total: {}, {} served ({} compressed), {} passed to the MPI library",
                    counted(sums.calls, "call"), count_text(sums.served),
                    count_text(sums.compressed), count_text(sums.passed))};
    if (sums.over_shared_memory > 0)
        lines.push_back(
            fmt::format("{} of those served: through the memory of one host, not the tree",
                        count_text(sums.over_shared_memory)));
    if (sums.bytes_sent > 0)
        lines.push_back(fmt::format("{} in; sent {} {}; the exact codec: {} (ratio {})",
                                    bytes_text(sums.bytes_in), bytes_text(sums.bytes_sent),
                                    way_of(sums), bytes_text(sums.bytes_sent_exact),
                                    ratio_text(sums)));
    if (sums.packed_away_bytes > 0)
        lines.push_back(fmt::format("without packing (zstd, lz4) {} more would have been sent",
                                    bytes_text(sums.packed_away_bytes)));
    if (sums.total_ns > 0)
        lines.push_back(fmt::format("{} in calls; {} in codecs, {} waiting for the wire",
                                    seconds_text(seconds_of(sums.total_ns)),
                                    seconds_text(seconds_of(sums.codec_ns)),
                                    seconds_text(seconds_of(sums.wire_ns))));
    if (total.saved_seconds) lines.push_back(saved_line(*total.saved_seconds));
    return lines;
}

namespace {

using Figure = double (*)(const RankSums&);
using Words = std::string (*)(double);

std::string count_words(double value) {
    return count_text(static_cast<std::uint64_t>(value));
}
std::string byte_words(double value) {
    return bytes_text(static_cast<std::uint64_t>(value));
}

Row rank_row(std::string_view name, const std::vector<RankSums>& ranks, Figure figure,
             Words words) {
    const auto less = [&](const RankSums& a, const RankSums& b) { return figure(a) < figure(b); };
    const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end(), less);
    double sum = 0;
    for (const RankSums& one : ranks) sum += figure(one);
    const double mean = sum / static_cast<double>(ranks.size());
    return {std::string(name),
            words(sum),
            words(mean),
            fmt::format("{} (rank {})", words(figure(*least)), least->rank),
            fmt::format("{} (rank {})", words(figure(*most)), most->rank),
            mean > 0 ? fmt::format("{:.2f}", figure(*most) / mean) : "-"};
}

}  // namespace

std::vector<Row> rank_rows(const std::vector<RankSums>& ranks) {
    if (ranks.empty()) return {};
    return {
        rank_row(
            "calls", ranks, [](const RankSums& one) { return static_cast<double>(one.sums.calls); },
            count_words),
        rank_row(
            "passed", ranks,
            [](const RankSums& one) { return static_cast<double>(one.sums.passed); }, count_words),
        rank_row(
            "in", ranks, [](const RankSums& one) { return static_cast<double>(one.sums.bytes_in); },
            byte_words),
        rank_row(
            "sent", ranks,
            [](const RankSums& one) { return static_cast<double>(one.sums.bytes_sent); },
            byte_words),
        rank_row(
            "time", ranks, [](const RankSums& one) { return seconds_of(one.sums.total_ns); },
            seconds_text),
        rank_row(
            "codec", ranks, [](const RankSums& one) { return seconds_of(one.sums.codec_ns); },
            seconds_text),
        rank_row(
            "wire", ranks, [](const RankSums& one) { return seconds_of(one.sums.wire_ns); },
            seconds_text)};
}

bool is_empty(const CommEntry& comm) {
    return comm.calls.empty() && comm.trees.empty() && comm.errors.empty();
}

}  // namespace gradcoll
