// report/report_text.cpp - the form for people.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/clock.hpp"
#include "base/units.hpp"
#include "report/size_bin.hpp"
#include "report/snapshot.hpp"

namespace gradcoll {
namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t longest_shown = 160;

std::string shortened(std::string_view text) {
    std::string result(text.substr(0, longest_shown));
    for (char& c : result)
        if (static_cast<unsigned char>(c) < ' ') c = '?';
    return text.size() > longest_shown ? result + "..." : result;
}

/// "1 rank", "3 ranks".
std::string or_dash(bool known, const std::string& text) {
    return known ? text : "-";
}

/// How many times more the exact codec would have sent.
std::string ratio_text(const CallSums& sums) {
    if (sums.bytes_sent == 0) return "-";
    return fmt::format("{:.2f}", static_cast<double>(sums.bytes_sent_exact) /
                                     static_cast<double>(sums.bytes_sent));
}

void write_process(const ReportSnapshot& report, Out out) {
    const ReportProcess& process = report.process;
    fmt::format_to(out, "==== gradcoll {} report {:=>70}\n", process.version, "");
    fmt::format_to(out, "rank {} of {}, host {}, process {}; {}, {}\n", process.world_rank,
                   process.world_size, shortened(process.host), process.process_id,
                   utc_text(report.start_unix_ns), seconds_text(report.seconds));
    if (!process.mpi.empty()) fmt::format_to(out, "MPI: {}\n", shortened(process.mpi));
    if (!process.command.empty()) fmt::format_to(out, "command: {}\n", shortened(process.command));
}

void write_comm_title(const CommEntry& comm, Out out) {
    fmt::format_to(out, "\n{}", comm.name.empty() ? "(no name)" : shortened(comm.name));
    if (comm.rank_count > 0)
        fmt::format_to(out, ", {}", counted(static_cast<std::uint64_t>(comm.rank_count), "rank"));
    if (comm.communicators > 1) fmt::format_to(out, ", {} communicators", comm.communicators);
    fmt::format_to(out, "\n");
}

void write_trees(const CommEntry& comm, Out out) {
    for (const TreeUse& tree : comm.trees) {
        fmt::format_to(out, "  tree {}", shortened(tree.expression));
        if (!tree.origin.empty()) fmt::format_to(out, "  ({})", shortened(tree.origin));
        if (comm.communicators > 1) fmt::format_to(out, ", {} times", tree.communicators);
        fmt::format_to(out, "\n");
    }
    if (comm.trees_not_listed > 0)
        fmt::format_to(out, "  other trees, {} times\n", comm.trees_not_listed);
}

constexpr const char* row_format =
    "  {:>8}{:>9}{:>8}{:>8}{:>8}{:>9}{:>9}{:>6}{:>8}{:>8}{:>8}{:>9}\n";

void write_heading(CallKind kind, Out out) {
    fmt::format_to(out, "  {}\n", name_of(kind));
    fmt::format_to(out, row_format, "bytes", "calls", "served", "compr.", "passed", "in", "sent",
                   "ratio", "time", "codec", "wire", "saved");
}

void write_cell(const CallCell& cell, Out out) {
    const CallSums& sums = cell.all;
    const bool served = sums.served > 0;
    const auto saved = cell.saved_seconds();
    fmt::format_to(out, row_format, size_bin_label(cell.size_bin), count_text(sums.calls),
                   count_text(sums.served), count_text(sums.compressed), count_text(sums.passed),
                   bytes_text(sums.bytes_in), or_dash(served, bytes_text(sums.bytes_sent)),
                   ratio_text(sums),
                   or_dash(sums.total_ns > 0, seconds_text(seconds_of(sums.total_ns))),
                   or_dash(sums.codec_ns > 0, seconds_text(seconds_of(sums.codec_ns))),
                   or_dash(sums.wire_ns > 0, seconds_text(seconds_of(sums.wire_ns))),
                   or_dash(saved.has_value(), seconds_text(saved.value_or(0))));
}

using Counts = std::map<std::string_view, std::uint64_t>;

/// Of all sizes of one kind; the most frequent first: "passed 12: REASON", "built 3: by BUILDER".
void write_counts(std::string_view what, std::string_view by, const Counts& counts, Out out) {
    std::multimap<std::uint64_t, std::string_view, std::greater<>> by_count;
    for (const auto& [name, calls] : counts) by_count.emplace(calls, name);
    for (const auto& [calls, name] : by_count)
        fmt::format_to(out, "    {:<6} {:>8}: {}{}\n", what, count_text(calls), by, name);
}

void write_calls(const CommEntry& comm, Out out) {
    Counts reasons, builders;
    for (std::size_t i = 0; i < comm.calls.size(); ++i) {
        const CallCell& cell = comm.calls[i];
        if (i == 0 || comm.calls[i - 1].kind != cell.kind) write_heading(cell.kind, out);
        write_cell(cell, out);
        for (const ReasonCount& one : cell.reasons) reasons[one.reason] += one.calls;
        for (const BuilderCount& one : cell.builders) builders[one.builder] += one.calls;
        if (i + 1 < comm.calls.size() && comm.calls[i + 1].kind == cell.kind) continue;
        write_counts("passed", "", reasons, out);
        write_counts("built", "by ", builders, out);
        reasons.clear();
        builders.clear();
    }
}

void write_errors(const CommEntry& comm, Out out) {
    if (comm.errors.empty()) return;
    fmt::format_to(out, "  error of compressed sums against exact ones\n");
    fmt::format_to(out, "  {:>8}{:>9}{:>17}{:>24}{:>24}\n", "bytes", "measured", "largest abs.",
                   "relative L2, largest", "relative L2, mean");
    for (const ErrorCell& error : comm.errors)
        fmt::format_to(out, "  {:>8}{:>9}{:>17.3g}{:>24.3g}{:>24.3g}\n",
                       size_bin_label(error.size_bin), count_text(error.measurements),
                       error.max_abs, error.max_relative_l2, error.mean_relative_l2());
    for (const ErrorCell& error : comm.errors)
        if (error.promises > 0)
            fmt::format_to(
                out, "  {:>8}: at most {:.3g} of what gc_tolerance promised, {:.3g} or more\n",
                size_bin_label(error.size_bin), error.most_of_promise, error.least_promised);
}

void write_left_out(const CommEntry& comm, Out out) {
    if (comm.left_out.empty()) return;
    fmt::format_to(out, "  codecs left out, which would take longer than they save (predicted)\n");
    fmt::format_to(out, "  {:>8}{:>9}  {:<22}{:>12}{:>12}\n", "bytes", "codec", "where",
                   "a call with", "without");
    for (const CodecLeftOut& one : comm.left_out)
        fmt::format_to(out, "  {:>8}{:>9}  {:<22}{:>12}{:>12}\n", bytes_text(one.bytes), one.codec,
                       one.level < 0 ? "memory of one host" : fmt::format("level {}", one.level),
                       seconds_text(one.compressed_us * 1e-6), seconds_text(one.exact_us * 1e-6));
    if (comm.left_out_not_listed > 0)
        fmt::format_to(out, "  and {} more\n", count_text(comm.left_out_not_listed));
}

std::string mean_text(std::uint64_t sum_ns, std::uint64_t count) {
    return seconds_text(seconds_of(sum_ns) /
                        static_cast<double>(std::max<std::uint64_t>(count, 1)));
}

void write_engines(const CommEntry& comm, Out out) {
    const EngineSums& sums = comm.engines;
    if (sums.engines == 0) return;
    const EngineFigures& figures = sums.figures;
    fmt::format_to(out, "  {}: {} of gradients, {} failed; {} in {}\n",
                   counted(sums.engines, "engine"), counted(figures.sums, "sum"),
                   count_text(figures.failed), count_text(figures.packed),
                   counted(figures.packs, "pack"));
    if (const auto overlap = sums.overlap())
        fmt::format_to(out, "    busy {}, of which the program waited {}: overlap {:.0f} %\n",
                       seconds_text(seconds_of(figures.busy_ns)),
                       seconds_text(seconds_of(figures.waited_ns)), 100 * *overlap);
    fmt::format_to(out, "    a gradient waited {} for its begin, its sum took {} (means)\n",
                   mean_text(figures.held_ns, figures.sums),
                   mean_text(figures.summed_ns, figures.sums));
    fmt::format_to(out, "    at most {} waiting, {} under way; {} sent to agree, {}; {}\n",
                   count_text(figures.most_held), count_text(figures.most_running),
                   counted(figures.told_messages, "message"), bytes_text(figures.told_bytes),
                   counted(figures.stalls, "stall"));
    if (figures.planned_anew > 0)
        fmt::format_to(out,
                       "    planned anew {}: links between hosts carried {:.2g} of what was said\n",
                       counted(figures.planned_anew, "time"), figures.links_carry);
}

void write_nic(const NicFigures& figures, Out out) {
    if (!figures.any()) return;
    fmt::format_to(out, "\nNIC agents: {}, {} handed over; {} of them to be encoded\n",
                   counted(figures.frames_sent, "frame"), bytes_text(figures.bytes_sent),
                   count_text(figures.frames_coded));
    if (figures.lost_ranks > 0 || figures.detoured_frames > 0)
        fmt::format_to(
            out, "  {} lost to them; {}, {} went round them\n", counted(figures.lost_ranks, "rank"),
            counted(figures.detoured_frames, "frame"), bytes_text(figures.detoured_bytes));
}

/// Late ranks and latency make the estimate too high, so it is called a bound.
void write_saved(double seconds, Out out) {
    constexpr std::string_view formula = "wire x (exact / sent - 1) - codec";
    if (seconds >= 0)
        fmt::format_to(out, "  compression saved at most about {}: {}; late ranks count as wire\n",
                       seconds_text(seconds), formula);
    else
        fmt::format_to(out, "  compression cost about {}: {}\n", seconds_text(-seconds), formula);
}

/// What goes through the memory of a host is no message.
std::string way_of(const CallSums& sums) {
    if (sums.messages_sent > 0) return "in " + counted(sums.messages_sent, "message");
    return "through the memory of one host";
}

void write_total(const ReportSnapshot& report, Out out) {
    const ReportTotal total = total_of(report);
    const CallSums& sums = total.sums;
    fmt::format_to(out, "\ntotal: {}, {} served ({} compressed), {} passed to the MPI library\n",
                   counted(sums.calls, "call"), count_text(sums.served),
                   count_text(sums.compressed), count_text(sums.passed));
    if (sums.over_shared_memory > 0)
        fmt::format_to(out, "  {} of those served: through the memory of one host, not the tree\n",
                       count_text(sums.over_shared_memory));
    if (sums.bytes_sent > 0)
        fmt::format_to(out, "  {} in; sent {} {}; the exact codec: {} (ratio {})\n",
                       bytes_text(sums.bytes_in), bytes_text(sums.bytes_sent), way_of(sums),
                       bytes_text(sums.bytes_sent_exact), ratio_text(sums));
    if (sums.packed_away_bytes > 0)
        fmt::format_to(out, "  without packing (zstd, lz4) {} more would have been sent\n",
                       bytes_text(sums.packed_away_bytes));
    if (sums.total_ns > 0)
        fmt::format_to(out, "  {} in calls; {} in codecs, {} waiting for the wire\n",
                       seconds_text(seconds_of(sums.total_ns)),
                       seconds_text(seconds_of(sums.codec_ns)),
                       seconds_text(seconds_of(sums.wire_ns)));
    if (total.saved_seconds) write_saved(*total.saved_seconds, out);
}

}  // namespace

std::string report_text(const ReportSnapshot& report) {
    std::string text;
    const Out out = std::back_inserter(text);
    write_process(report, out);
    for (const CommEntry& comm : report.comms) {
        if (comm.calls.empty() && comm.trees.empty() && comm.errors.empty()) continue;
        write_comm_title(comm, out);
        write_trees(comm, out);
        write_calls(comm, out);
        write_engines(comm, out);
        write_left_out(comm, out);
        write_errors(comm, out);
    }
    write_nic(report.nic, out);
    write_total(report, out);
    return text;
}

}  // namespace gradcoll
