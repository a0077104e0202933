// report/report_html.cpp - the form for browsers: what the text says (rows.hpp), with bars, and
// with what calls put on the links of the trees.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "report/html_style.hpp"
#include "report/rows.hpp"
#include "report/snapshot.hpp"
#include "topology/draw/draw.hpp"

namespace gradcoll {
namespace {

using Out = std::back_insert_iterator<std::string>;

// ---- pieces

template <class Cells>
void put_cells(std::string_view tag, const Cells& cells, Out out) {
    fmt::format_to(out, "<tr>");
    for (const auto& cell : cells) fmt::format_to(out, "<{0}>{1}</{0}>", tag, markup_text(cell));
    fmt::format_to(out, "</tr>\n");
}

template <class Columns>
void put_table(const Columns& columns, const std::vector<Row>& rows, Out out) {
    fmt::format_to(out, "<table>\n<thead>");
    put_cells("th", columns, out);
    fmt::format_to(out, "</thead>\n<tbody>\n");
    for (const Row& row : rows) put_cells("td", row, out);
    fmt::format_to(out, "</tbody>\n</table>\n");
}

template <class Items, class ToRow>
std::vector<Row> rows_of(const Items& items, ToRow to_row) {
    std::vector<Row> rows;
    for (const auto& item : items) rows.push_back(to_row(item));
    return rows;
}

void put_heading(int level, std::string_view text, Out out) {
    fmt::format_to(out, "<h{0}>{1}</h{0}>\n", level, markup_text(text));
}

void put_lines(const std::vector<std::string>& lines, Out out) {
    if (lines.empty()) return;
    fmt::format_to(out, "<p>");
    for (std::size_t i = 0; i < lines.size(); ++i)
        fmt::format_to(out, "{}{}", i > 0 ? "<br/>\n" : "", markup_text(lines[i]));
    fmt::format_to(out, "</p>\n");
}

// ---- bars

struct BarPart {
    double value = 0;
    std::string_view style;  ///< a class of the style sheet
};
struct Bar {
    std::string label;
    std::vector<BarPart> parts;
    std::string words;  ///< words behind it
};

double length_of(const Bar& bar) {
    double length = 0;
    for (const BarPart& part : bar.parts) length += part.value;
    return length;
}

/// Writes bars, of which the longest takes the whole width.
void put_bars(const std::vector<Bar>& bars, Out out) {
    double longest = 0;
    for (const Bar& bar : bars) longest = std::max(longest, length_of(bar));
    if (longest <= 0) return;
    fmt::format_to(out, "<div class=\"bars\">\n");
    for (const Bar& bar : bars) {
        fmt::format_to(out, "<div><span class=\"label\">{}</span><span class=\"track\">",
                       markup_text(bar.label));
        for (const BarPart& part : bar.parts)
            fmt::format_to(out, "<span class=\"{}\" style=\"width:{:.2f}%\"></span>", part.style,
                           100 * part.value / longest);
        fmt::format_to(out, "</span><span class=\"words\">{}</span></div>\n",
                       markup_text(bar.words));
    }
    fmt::format_to(out, "</div>\n");
}

/// Returns a bar that shows where the time of calls went: on the wire, in codecs, and the rest.
Bar time_bar(std::string label, const CallSums& sums) {
    const double wire = seconds_of(sums.wire_ns);
    const double codec = seconds_of(sums.codec_ns);
    const double rest = std::max(0.0, seconds_of(sums.total_ns) - wire - codec);
    return {std::move(label),
            {{wire, "wire"}, {codec, "codec"}, {rest, "rest"}},
            fmt::format("{} wire, {} codec, {} else", seconds_text(wire), seconds_text(codec),
                        seconds_text(rest))};
}

void put_time_key(Out out) {
    fmt::format_to(out,
                   "<p class=\"key\"><span class=\"wire\"></span> waiting and handling messages "
                   "<span class=\"codec\"></span> codecs <span class=\"rest\"></span> everything "
                   "else in calls</p>\n");
}

// ---- parts of the page

/// Writes a bar for each rank, but few enough to look at: of more ranks those that spent most time
/// in calls.
void put_rank_bars(std::vector<RankSums> ranks, Out out) {
    constexpr std::size_t most_bars = 64;
    const bool all = ranks.size() <= most_bars;
    if (!all) {
        std::stable_sort(ranks.begin(), ranks.end(), [](const RankSums& a, const RankSums& b) {
            return a.sums.total_ns > b.sums.total_ns;
        });
        ranks.resize(most_bars);
    }
    std::vector<Bar> bars;
    for (const RankSums& one : ranks)
        bars.push_back(time_bar(fmt::format("rank {}, {}", one.rank, one.host), one.sums));
    fmt::format_to(out, "<p>Time in calls of {}:</p>\n",
                   all ? "each rank" : fmt::format("the {} ranks that spent most", most_bars));
    put_bars(bars, out);
    put_time_key(out);
}

void put_ranks(const ReportSnapshot& report, Out out) {
    put_heading(2, "All ranks", out);
    if (report.ranks.empty()) {
        fmt::format_to(out,
                       "<p>All figures are of this rank alone: no communicator of all ranks was "
                       "attached with a report on each of them, or MPI_Finalize has not begun.</p>"
                       "\n");
        return;
    }
    put_table(rank_columns, rank_rows(report.ranks), out);
    put_rank_bars(report.ranks, out);
}

void put_size_bars(const CommEntry& comm, std::size_t first, std::size_t last, Out out) {
    std::vector<Bar> bars;
    for (std::size_t i = first; i < last; ++i)
        if (comm.calls[i].all.total_ns > 0)
            bars.push_back(time_bar(size_bin_label(comm.calls[i].size_bin), comm.calls[i].all));
    put_bars(bars, out);
    if (!bars.empty()) put_time_key(out);
}

void put_calls(const CommEntry& comm, Out out) {
    for (std::size_t first = 0; first < comm.calls.size();) {
        const std::size_t last = end_of_kind(comm, first);
        put_heading(3, name_of(comm.calls[first].kind), out);
        std::vector<Row> rows;
        for (std::size_t i = first; i < last; ++i) rows.push_back(call_row(comm.calls[i]));
        put_table(call_columns, rows, out);
        std::vector<std::string> lines;
        for (const Counted& one : counted_lines(comm, first, last))
            lines.push_back(fmt::format("{} {}: {}", one.what, one.calls, one.by));
        put_lines(lines, out);
        put_size_bars(comm, first, last, out);
        first = last;
    }
}

/// Returns how long the link's bandwidth takes for what it carried in the busier direction; 0 if
/// that is not known.
double busy_seconds(const TreeTraffic& traffic, int vertex) {
    const double bandwidth = traffic.tree.vertex(vertex).uplink.bandwidth_gbytes_per_s;
    const LinkBytes& bytes = traffic.links[static_cast<std::size_t>(vertex)];
    return bandwidth > 0 ? static_cast<double>(std::max(bytes.up, bytes.down)) / bandwidth * 1e-9
                         : 0;
}

SvgLink link_of(const TreeTraffic& traffic, int vertex, double most_bytes, double most_seconds) {
    const LinkBytes& bytes = traffic.links[static_cast<std::size_t>(vertex)];
    constexpr double thinnest = 1.2;
    constexpr double thickest = 9;
    const double part =
        most_bytes > 0 ? static_cast<double>(std::max(bytes.up, bytes.down)) / most_bytes : 0;
    const double seconds = busy_seconds(traffic, vertex);
    SvgLink link;
    link.lines = {"up " + bytes_text(bytes.up), "down " + bytes_text(bytes.down)};
    if (seconds > 0) link.lines.push_back(seconds_text(seconds));
    link.width = thinnest + (thickest - thinnest) * part;
    link.marked = seconds > 0 && seconds >= most_seconds;
    return link;
}

/// Returns whether the tree is that of the ranks which exchange for their hosts.
bool is_of_leaders(const CommEntry& comm, const TreeTraffic& traffic) {
    return comm.rank_count > 0 && traffic.tree.rank_count() != comm.rank_count;
}

void put_picture(const CommEntry& comm, const TreeTraffic& traffic, Out out) {
    double most_bytes = 0;
    double most_seconds = 0;
    for (int vertex = 1; vertex < traffic.tree.vertex_count(); ++vertex) {
        const LinkBytes& bytes = traffic.links[static_cast<std::size_t>(vertex)];
        most_bytes =
            std::max({most_bytes, static_cast<double>(bytes.up), static_cast<double>(bytes.down)});
        most_seconds = std::max(most_seconds, busy_seconds(traffic, vertex));
    }
    fmt::format_to(out, "<figure>\n{}", draw_svg(traffic.tree, [&](int vertex) {
                       return link_of(traffic, vertex, most_bytes, most_seconds);
                   }));
    fmt::format_to(out,
                   "<figcaption>Bytes that {} put on each link, all ranks together, as planned. "
                   "Lines are as thick as their bytes.{}{} Of entries that stand for several the "
                   "figures are those of the first.</figcaption>\n</figure>\n",
                   counted(traffic.calls, "call"),
                   most_seconds > 0 ? " The time is what the link's bandwidth takes for them; the "
                                      "link that is busy longest is red."
                                    : "",
                   is_of_leaders(comm, traffic)
                       ? " Its ranks are one of each host, which exchanges for all there, numbered "
                         "among themselves."
                       : "");
}

void put_comm(const CommEntry& comm, Out out) {
    fmt::format_to(out, "<section>\n");
    put_heading(2, comm_title(comm), out);
    put_lines(tree_lines(comm), out);
    put_calls(comm, out);
    for (const TreeTraffic& traffic : comm.traffic) put_picture(comm, traffic, out);
    put_lines(engine_lines(comm), out);
    if (!comm.left_out.empty()) {
        put_heading(3, "codecs left out, which would take longer than they save (predicted)", out);
        put_table(left_out_columns, rows_of(comm.left_out, left_out_row), out);
        put_lines(left_out_rest(comm), out);
    }
    if (!comm.trials.empty()) {
        put_heading(3, "tried both ways: a call here, and by the MPI library (measured)", out);
        put_table(trial_columns, rows_of(comm.trials, trial_row), out);
    }
    if (!comm.errors.empty()) {
        put_heading(3, "error of compressed sums against exact ones", out);
        put_table(error_columns, rows_of(comm.errors, error_row), out);
        put_lines(promise_lines(comm), out);
    }
    fmt::format_to(out, "</section>\n");
}

void put_sites(const ReportSnapshot& report, Out out) {
    if (report.sites.empty()) return;
    fmt::format_to(out, "<section>\n");
    put_heading(2, "Calls of this rank by the place that they came from", out);
    put_table(site_columns, rows_of(report.sites, site_row), out);
    put_lines(sites_rest(report), out);
    fmt::format_to(out, "</section>\n");
}

void put_head(const ReportSnapshot& report, Out out) {
    const std::string title = fmt::format("gradcoll {} report", report.process.version);
    fmt::format_to(out,
                   "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n"
                   "<head>\n<meta charset=\"utf-8\"/>\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                   "<title>{}: {}</title>\n<style>{}</style>\n</head>\n<body>\n",
                   title, markup_text(shortened(report.process.command)), html_style);
    put_heading(1, title, out);
    put_lines(process_lines(report), out);
    fmt::format_to(out, "<div class=\"total\">\n");
    put_lines(total_lines(report), out);
    fmt::format_to(out, "</div>\n");
}

}  // namespace

std::string report_html(const ReportSnapshot& report) {
    std::string page;
    const Out out = std::back_inserter(page);
    put_head(report, out);
    put_ranks(report, out);
    for (const CommEntry& comm : report.comms)
        if (!is_empty(comm)) put_comm(comm, out);
    put_sites(report, out);
    put_lines(nic_lines(report.nic), out);
    fmt::format_to(out, "{}</body>\n</html>\n", html_words);
    return page;
}

}  // namespace gradcoll
