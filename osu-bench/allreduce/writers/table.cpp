// writers/table.cpp - prints the table for people.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "writers/writers.hpp"

namespace gradcoll::bench {
namespace {

// A Cell has both head and text, so that they cannot get out of step.
struct Cell {
    std::string_view head;
    int width;
    std::string text;
};
using Cells = std::vector<Cell>;

std::string number(double value, int digits) {
    return fmt::format("{:.{}f}", value, digits);
}

std::string count_or_dash(std::optional<int> count) {
    return count ? fmt::format("{}", *count) : "-";
}

void add_times(Cells& cells, bool full, const Row& row) {
    cells.push_back({"Avg(us)", 12, number(row.ours.avg_us, 2)});
    if (full) {
        cells.push_back({"Min(us)", 12, number(row.ours.min_us, 2)});
        cells.push_back({"Max(us)", 12, number(row.ours.max_us, 2)});
        cells.push_back({"Iters", 7, fmt::format("{}", row.iterations)});
    }
    cells.push_back({"Peer(us)", 12, number(row.peer.avg_us, 2)});
    if (full) {
        cells.push_back({"Peermin(us)", 12, number(row.peer.min_us, 2)});
        cells.push_back({"Peermax(us)", 12, number(row.peer.max_us, 2)});
    }
    cells.push_back({"ratio", 7, number(row.ratio.median, 2)});
    cells.push_back({"q1", 6, number(row.ratio.lower_quartile, 2)});
    cells.push_back({"q3", 6, number(row.ratio.upper_quartile, 2)});
    if (full) {
        cells.push_back({"rmin", 6, number(row.ratio.min, 2)});
        cells.push_back({"rmax", 6, number(row.ratio.max, 2)});
    }
    cells.push_back({"algbw", 8, number(row.algbw_gbs, 3)});
    cells.push_back({"busbw", 8, number(row.busbw_gbs, 3)});
}

void add_verdict(Cells& cells, const Row& row) {
    const Verdict verdict = row.verdict.value_or(Verdict{});
    cells.push_back({"max_err", 10, fmt::format("{:.2e}", verdict.max_abs_err)});
    cells.push_back({"rel_L2", 10, fmt::format("{:.2e}", verdict.rel_l2_err)});
    cells.push_back({"#wrong", 7, fmt::format("{}", verdict.wrong_ranks)});
    cells.push_back({"check", 6, verdict.passed ? "pass" : "FAIL"});
    const Verdict peer = row.peer_verdict.value_or(Verdict{});
    cells.push_back({"peer_max", 10, fmt::format("{:.2e}", peer.max_abs_err)});
    cells.push_back({"peer_L2", 10, fmt::format("{:.2e}", peer.rel_l2_err)});
}

Cells cells_of(const Options& options, const Row& row) {
    Cells cells;
    add_times(cells, options.full, row);
    cells.push_back({"wire_max", 11, number(row.wire_max_bytes, 0)});
    cells.push_back({"wire_sum", 12, number(row.wire_sum_bytes, 0)});
    if (options.check) {
        add_verdict(cells, row);
    }
    if (options.check && options.device != "host") {
        cells.push_back({"#unlike", 7, count_or_dash(row.unlike_host_ranks)});
    }
    cells.push_back({"path", 11, row.path});
    return cells;
}

void print_line(std::string_view first, const Cells& cells, bool heads) {
    std::string line = fmt::format("{:<12}", first);
    for (const Cell& cell : cells) {
        line += fmt::format(" {:>{}}", heads ? cell.head : std::string_view(cell.text), cell.width);
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

const char* yes_no(bool value) {
    return value ? "yes" : "no";
}

}  // namespace

void print_head(const Options& options, const TableHead& head) {
    fmt::print("# GC_Allreduce beside {}: {} ranks, {}, {}\n", head.peer, head.ranks,
               options.element->name, options.op);
    fmt::print("# codec {}, data {}, seed {}, in place {}, feedback {}\n", head.codec, options.data,
               options.seed, yes_no(options.in_place), yes_no(options.feedback));
    for (const auto& [key, value] : options.settings) {
        fmt::print("# {} = {}\n", key, value);
    }
    fmt::print("# vectors in {}\n", head.memory);
    fmt::print("# tree {} ({})\n", head.tree_expression, head.tree_origin);
    fmt::print("# over {}; sync {}: {}\n", head.mpi_library, name_of(options.sync),
               meaning_of(options.sync));
    fmt::print("# in turns of short batches, order swapped every repeat, medians of {} repeats\n",
               options.repeats);
    fmt::print(
        "# ratio: peer / ours, above 1 ours is faster; q1, q3: its quartiles; algbw, busbw in "
        "GB/s; "
        "wire: bytes sent a call\n");
    if (options.data == "constant") {
        fmt::print(
            "# WARNING: constant data: errors and byte counts of codecs say nothing about real "
            "gradients\n");
    }
    print_line("# Size", cells_of(options, Row{}), true);
}

void print_row(const Options& options, const Row& row) {
    print_line(fmt::format("{}", row.size_bytes), cells_of(options, row), false);
}

void print_remarks(const std::vector<Row>& rows) {
    std::set<std::string> reasons;
    for (const Row& row : rows) {
        if (!row.pass_reason.empty()) {
            reasons.insert(row.pass_reason);
        }
    }
    for (const std::string& reason : reasons) {
        fmt::print("# path mpi: {}\n", reason);
    }
    fmt::print("# summary: {}\n\n", text_of(summary_of(ratios_of(rows))));
}

}  // namespace gradcoll::bench
