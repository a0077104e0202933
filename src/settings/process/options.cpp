// settings/process/options.cpp - how the process behaves: cores, devices, checks, the
// interposer, the settings themselves: names and texts.
#include <string>

#include "base/call_kind.hpp"
#include "base/option_check.hpp"
#include "base/option_table.hpp"
#include "base/text.hpp"
#include "instruction_sets.hpp"

namespace gradcoll {

namespace {

/// Checks a word or a path. A path must have a slash: otherwise a misspelt word would be looked for
/// among the system's libraries.
Status check_device(const OptionInfo& row, std::string_view text) {
    const bool is_path = text.find('/') != std::string_view::npos;
    return is_path || text == "auto" || text == "off" ? Status()
                                                      : bad_value(row.variable, text, row.allowed);
}

Status check_bytes(const OptionInfo& row, std::string_view text) {
    return parse_bytes(text).ok() ? Status() : bad_value(row.variable, text, row.allowed);
}

/// Returns the calls of unchanged programs, as messages list them.
std::string_view calls_to_intercept() {
    static const std::string words = [] {
        std::string all = "comma separated:";
        for (const CallKindRow& row : call_kind_rows) {
            if (row.function.empty()) continue;
            all.append(" ").append(row.name).append(",");
            if (row.name == "allgather") all += " allgather_one_host,";
        }
        all.pop_back();
        return all;
    }();
    return words;
}

}  // namespace

OptionInfo yield_option_row() {
    return {.variable = "GC_YIELD",
            .default_value = "auto",
            .allowed = "auto, on, off",
            .help = "give the core away while waiting; auto: if ranks outnumber cores",
            .check = check_word_or_switch};
}

OptionInfo fault_option_row() {
    return {.variable = "GC_FAULT",
            .info_key = "gc_fault",
            .default_value = "report",
            .allowed = "report, survive",
            .help =
                "what a sum is to ranks that outlive another; report: an error for those who "
                "wait in vain; survive: the same answer for all of them, made or not made, and "
                "GC_TUNE=online is cache"};
}

OptionInfo fault_seconds_option_row() {
    return {.variable = "GC_FAULT_SECONDS",
            .default_value = "2",
            .allowed = "0 to 1000000",
            .help =
                "a call waits at most this long after a rank that it waits for has died, and is an "
                "error then; 0: nobody looks for dead ranks",
            .check = check_number<0, most_fault_seconds>};
}

OptionInfo shm_process_bytes_option_row() {
    return {.variable = "GC_SHM_BYTES=process",
            .default_value = "64M",
            .allowed = "bytes, with K, M or G",
            .help =
                "shared memory of a rank for long vectors of all its communicators together; "
                "beyond it they go through blocks of 64 KiB, which are slower",
            .check = check_bytes,
            .also_sought_as = "SHM_PROCESS_BYTES"};
}

OptionInfo check_option_row() {
    return {
        .variable = "GC_CHECK",
        .info_key = "gc_check",
        .default_value = "off",
        .allowed = "off, local, collective, sum, local+sum, collective+sum",
        .help =
            "local: verify every new plan; collective: also compare the call's shape across ranks; "
            "sum: messages of sums have checksums, and damage is an error on all ranks"};
}

OptionInfo cpu_option_row() {
    return {.variable = "GC_CPU",
            .default_value = "best",
            .allowed = "best, " GRADCOLL_SET_TEXT,
            .help = "highest instruction set the kernels may use (on AArch64: scalar, neon)",
            .check = check_word};
}

OptionInfo device_option_row() {
    return {.variable = "GC_DEVICE",
            .default_value = "auto",
            .allowed = "auto, off, or a path, with a /, of a plug-in",
            .help =
                "what serves buffers in device memory; auto: the CUDA plug-in beside the library, "
                "loaded once the program uses a GPU",
            .check = check_device};
}

OptionInfo device_mpi_option_row() {
    return {.variable = "GC_DEVICE=mpi",
            .default_value = "auto",
            .allowed = "auto, on, off",
            .help =
                "hand device memory to the MPI library as it is; auto: if the library says that it "
                "was built for CUDA and uses it",
            .check = check_word_or_switch};
}

OptionInfo enable_option_row() {
    return {.variable = "GC_ENABLE",
            .default_value = "on",
            .allowed = "on, off",
            .help = "off: the interposer passes every call to the MPI library",
            .check = check_word_or_switch,
            .limits_loss = true};
}

OptionInfo intercept_option_row() {
    return {
        .variable = "GC_INTERCEPT",
        .default_value =
            "allreduce,iallreduce,allreduce_init,reduce_scatter_block,reduce_scatter,"
            "allgather_one_host,barrier,reduce",
        .allowed = calls_to_intercept(),
        .help =
            "MPI calls that the interposer may serve; allgather_one_host: only through the memory "
            "of one host",
        .limits_loss = true};
}

OptionInfo config_file_option_row() {
    return {.variable = "GC_CONFIG_FILE",
            .default_value = "",
            .allowed = "a file of lines NAME = VALUE; # begins a comment",
            .help = "settings for those variables that the environment does not set",
            .limits_loss = true};
}

OptionInfo dump_config_option_row() {
    return {.variable = "GC_DUMP_CONFIG",
            .default_value = "off",
            .allowed = "on, off",
            .help = "rank 0 prints every setting, its value and where it came from",
            .check = check_word_or_switch};
}

}  // namespace gradcoll
