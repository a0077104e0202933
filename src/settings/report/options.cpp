// settings/report/options.cpp - what is written down: names and texts.
#include "base/option_check.hpp"
#include "base/option_table.hpp"

namespace gradcoll {
namespace {

Status check_top(const OptionInfo& row, std::string_view text) {
    if (text == "off" || text == "on" || text.find('/') != std::string_view::npos) return {};
    return bad_value(row.variable, text, row.allowed);
}

}  // namespace

OptionInfo report_option_row() {
    return {.variable = "GC_REPORT",
            .default_value = "off",
            .allowed = "off, text, json, html",
            .help = "what the calls did, written in MPI_Finalize",
            .check = check_word};
}

OptionInfo report_file_option_row() {
    return {.variable = "GC_REPORT=file",
            .default_value = "",
            .allowed = "a path; %h host, %p process id, %r rank",
            .help =
                "where the report goes, instead of rank 0's stderr; without %r or %p only rank 0 "
                "writes",
            .only_with = "GC_REPORT",
            .takes_rest = true};
}

OptionInfo report_error_option_row() {
    return {.variable = "GC_REPORT=error",
            .default_value = "0",
            .allowed = "0 to 1000000",
            .help =
                "every so many compressed calls of a communicator, also sum exactly "
                "and record the error; 0: never",
            .check = check_number<0, 1'000'000>,
            .only_with = "GC_REPORT"};
}

OptionInfo report_callsites_option_row() {
    return {.variable = "GC_REPORT=callsites",
            .default_value = "off",
            .allowed = "off, on",
            .help =
                "calls by the place of the program that they came from, with its line "
                "where addr2line finds one",
            .check = check_word,
            .only_with = "GC_REPORT"};
}

OptionInfo trace_option_row() {
    return {.variable = "GC_TRACE",
            .default_value = "",
            .allowed = "a path; %h host, %p process id, %r rank (added if missing)",
            .help = "write a Chrome/Perfetto trace of all steps, one file a rank",
            .takes_rest = true};
}

OptionInfo trace_spans_option_row() {
    return {.variable = "GC_TRACE=spans",
            .default_value = "1000000",
            .allowed = "1 to 100000000",
            .help = "spans that a trace keeps at most",
            .check = check_number<1, 100'000'000>,
            .only_with = "GC_TRACE"};
}

OptionInfo top_option_row() {
    return {.variable = "GC_TOP",
            .default_value = "off",
            .allowed = "off, on, or a folder, with a /, in memory",
            .help = "counters of this process for gradcoll top, in a small file; on: in /dev/shm",
            .check = check_top};
}

OptionInfo roll_call_option_row() {
    return {.variable = "GC_ROLL_CALL",
            .default_value = "off",
            .allowed = "off, USR1, USR2",
            .help =
                "the signal that makes a process say on stderr which ranks it waits for, since "
                "when and in which call",
            .check = check_word};
}

OptionInfo log_option_row() {
    return {.variable = "GC_LOG",
            .default_value = "warn",
            .allowed = "error, warn, info, debug, trace",
            .help = "how much is written to stderr",
            .check = check_word};
}

}  // namespace gradcoll
