// report/report_text.cpp - the form for people.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/rows.hpp"
#include "report/snapshot.hpp"

namespace gradcoll {
namespace {

using Out = std::back_insert_iterator<std::string>;

/// Writes each cell in a column of this many characters, to the right; with a negative number to
/// the left, behind two blanks.
template <class Cells, class Widths>
void write_row(const Cells& cells, const Widths& widths, Out out) {
    std::string line = "  ";
    auto width = std::begin(widths);
    for (const auto& cell : cells) {
        line += *width >= 0 ? fmt::format("{:>{}}", cell, *width)
                            : fmt::format("  {:<{}}", cell, -*width);
        ++width;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::format_to(out, "{}\n", line);
}

void write_lines(const std::vector<std::string>& lines, std::string_view indent, Out out) {
    for (const std::string& line : lines) fmt::format_to(out, "{}{}\n", indent, line);
}

/// Writes the first line, and what belongs to it two columns further right.
void write_paragraph(const std::vector<std::string>& lines, std::string_view indent, Out out) {
    for (std::size_t i = 0; i < lines.size(); ++i)
        fmt::format_to(out, "{}{}{}\n", indent, i > 0 ? "  " : "", lines[i]);
}

void write_process(const ReportSnapshot& report, Out out) {
    fmt::format_to(out, "==== gradcoll {} report {:=>70}\n", report.process.version, "");
    write_lines(process_lines(report), "", out);
}

void write_calls(const CommEntry& comm, Out out) {
    constexpr int widths[] = {8, 9, 8, 8, 8, 9, 9, 6, 8, 8, 8, 9};
    for (std::size_t first = 0; first < comm.calls.size();) {
        const std::size_t last = end_of_kind(comm, first);
        fmt::format_to(out, "  {}\n", name_of(comm.calls[first].kind));
        write_row(call_columns, widths, out);
        for (std::size_t i = first; i < last; ++i) write_row(call_row(comm.calls[i]), widths, out);
        for (const Counted& one : counted_lines(comm, first, last))
            fmt::format_to(out, "    {:<6} {:>8}: {}\n", one.what, one.calls, one.by);
        first = last;
    }
}

void write_errors(const CommEntry& comm, Out out) {
    if (comm.errors.empty()) return;
    constexpr int widths[] = {8, 9, 17, 24, 24};
    fmt::format_to(out, "  error of compressed sums against exact ones\n");
    write_row(error_columns, widths, out);
    for (const ErrorCell& error : comm.errors) write_row(error_row(error), widths, out);
    write_lines(promise_lines(comm), "  ", out);
}

void write_left_out(const CommEntry& comm, Out out) {
    if (comm.left_out.empty()) return;
    constexpr int widths[] = {8, 9, -22, 12, 12};
    fmt::format_to(out, "  codecs left out, which would take longer than they save (predicted)\n");
    write_row(left_out_columns, widths, out);
    for (const CodecLeftOut& one : comm.left_out) write_row(left_out_row(one), widths, out);
    write_lines(left_out_rest(comm), "  ", out);
}

void write_trials(const CommEntry& comm, Out out) {
    if (comm.trials.empty()) return;
    constexpr int widths[] = {8, 10, 10, 14, -18};
    fmt::format_to(out, "  tried both ways: a call here, and by the MPI library (measured)\n");
    write_row(trial_columns, widths, out);
    for (const WayTrial& trial : comm.trials) write_row(trial_row(trial), widths, out);
}

void write_ranks(const ReportSnapshot& report, Out out) {
    if (report.ranks.empty()) return;
    constexpr int widths[] = {-14, 9, 9, 20, 20, 13};
    fmt::format_to(out, "\n");
    write_row(rank_columns, widths, out);
    for (const Row& row : rank_rows(report.ranks)) write_row(row, widths, out);
}

void write_sites(const ReportSnapshot& report, Out out) {
    if (report.sites.empty()) return;
    constexpr int widths[] = {9, 8, 8, 9, 8, -20, -1};
    fmt::format_to(out, "\ncalls of this rank by the place that they came from\n");
    write_row(site_columns, widths, out);
    for (const SiteCalls& site : report.sites) write_row(site_row(site), widths, out);
    write_lines(sites_rest(report), "  ", out);
}

}  // namespace

std::string report_text(const ReportSnapshot& report) {
    std::string text;
    const Out out = std::back_inserter(text);
    write_process(report, out);
    for (const CommEntry& comm : report.comms) {
        if (is_empty(comm)) continue;
        fmt::format_to(out, "\n{}\n", comm_title(comm));
        write_lines(tree_lines(comm), "  ", out);
        write_calls(comm, out);
        write_paragraph(engine_lines(comm), "  ", out);
        write_left_out(comm, out);
        write_trials(comm, out);
        write_errors(comm, out);
    }
    if (const auto lines = nic_lines(report.nic); !lines.empty()) {
        fmt::format_to(out, "\n");
        write_paragraph(lines, "", out);
    }
    write_sites(report, out);
    write_ranks(report, out);
    fmt::format_to(out, "\n");
    write_paragraph(total_lines(report), "", out);
    return text;
}

}  // namespace gradcoll
