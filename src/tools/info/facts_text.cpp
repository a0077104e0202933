// info/facts_text.cpp - the facts for people, and which settings a pattern means.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "ask.hpp"
#include "base/option_table.hpp"
#include "base/text.hpp"
#include "facts.hpp"
#include "options.hpp"

namespace gradcoll::info {
namespace {

/// Returns a text such as "default", "environment", "config file run.conf:3".
std::string source_text(const GC_Setting& setting) {
    if (*setting.place == '\0') return setting.source;
    return fmt::format("{} {}", setting.source, setting.place);
}

std::string value_of(std::string_view variable) {
    for (const GC_Setting& setting : settings())
        if (setting.variable == variable) return setting.value;
    return {};
}

std::string list_text(std::string_view title, GC_List list) {
    const auto rows = entries(list);
    std::size_t width = 0;
    for (const GC_List_entry& row : rows)
        width = std::max(width, std::string_view(row.name).size());
    std::string text = fmt::format("{}\n", title);
    for (const GC_List_entry& row : rows)
        text += fmt::format("  {:<{}}  {}\n", row.name, width, row.text);
    return text;
}

std::string build_text(const GC_Build& build) {
    const bool has_revision = *build.revision != '\0';
    const bool has_sanitizers = *build.sanitizers != '\0';
    std::string text = fmt::format("Gradcoll {}{}{}\n", build.version,
                                   has_revision ? ", source " : "", build.revision);
    text += fmt::format("  build  {}, {}{}{}\n", build.build_type, build.compiler,
                        has_sanitizers ? ", sanitizers " : "", build.sanitizers);
    text += fmt::format("  MPI    built for {}, sees {}\n", build.mpi_built, build.mpi_seen);
    text += fmt::format("  CPU    runs {}; reductions use {}, codecs {}\n", build.cpu_found,
                        build.cpu_reduce, build.cpu_codecs);
    return text +
           fmt::format("  CUDA   kernels {}\n", build.cuda_kernels != 0 ? "built" : "not built");
}

std::string changed_settings_text() {
    std::string text;
    for (const GC_Setting& setting : settings())
        if (std::string_view(setting.source) != "default")
            text += fmt::format("  {} = {} ({})\n", setting.variable, setting.value,
                                source_text(setting));
    if (text.empty()) return "settings: all at their defaults\n";
    return "settings that are not at their defaults\n" + text;
}

void add_hints_on_build(const GC_Build& build, std::vector<std::string>& hints) {
    if (build.mpi_matches == 0)
        hints.push_back(
            fmt::format("built for {}, but the MPI that is loaded is {}: calls will fail or "
                        "crash; use the library that was built for it",
                        build.mpi_built, build.mpi_seen));
    const std::string_view type = build.build_type;
    if (type == "Debug" || *build.sanitizers != '\0')
        hints.push_back(fmt::format("a {} build{}{}: not for measuring", type,
                                    *build.sanitizers != '\0' ? " with sanitizers " : "",
                                    build.sanitizers));
    if (value_of("GC_CPU") != "best")
        hints.push_back(fmt::format("GC_CPU={} holds the kernels down", value_of("GC_CPU")));
}

void add_hints_on_codecs(std::vector<std::string>& hints) {
    const std::string value = value_of("GC_CODEC");
    if (value == "exact") return;
    hints.push_back(
        fmt::format("GC_CODEC={} is for every communicator of the program: floating-point sums "
                    "from GC_COMPRESS_BYTES up are approximate where the codec is lossy; "
                    "GC_COMPRESS_COMMS and GC_COMPRESS_CALLS narrow it down",
                    value));
}

/// Returns whether the setting fits. plain_name() removes prefix and case from pattern and names
/// alike.
bool fits(const std::string& pattern, const GC_Setting& setting) {
    return fnmatch(pattern.c_str(), plain_name(setting.variable).c_str(), FNM_NOESCAPE) == 0;
}

[[noreturn]] void refuse(const std::string& pattern) {
    const auto* const meant = gradcoll::meant_option_of_name(pattern);
    throw Refused(
        MPI_ERR_ARG,
        fmt::format("--settings {}: no setting is called so{}", gradcoll::printable(pattern),
                    meant != nullptr ? gradcoll::suggestion_of(meant)
                                     : "; gradcoll info --settings lists all"));
}

std::string shown(const char* value) {
    return *value != '\0' ? value : "(nothing)";
}

std::string block(const GC_Setting& setting) {
    std::string text = fmt::format("{} = {}  ({})\n", setting.variable, shown(setting.value),
                                   source_text(setting));
    text += fmt::format("    {}\n", setting.help);
    text += fmt::format("    allowed: {}\n", setting.allowed);
    const bool has_key = *setting.info_key != '\0';
    return text + fmt::format("    default: {}; info key: {}\n", shown(setting.default_value),
                              has_key ? setting.info_key : "none, holds for the process");
}

}  // namespace

std::vector<std::string> hints() {
    std::vector<std::string> hints;
    add_hints_on_build(build(), hints);
    for (const GC_List_entry& complaint : entries(GC_LIST_COMPLAINTS))
        hints.emplace_back(complaint.text);
    if (std::string names = uncovered_names_hint(); !names.empty())
        hints.push_back(std::move(names));
    add_hints_on_codecs(hints);
    return hints;
}

std::string overview_text() {
    std::string text = build_text(build());
    text += list_text("codecs (GC_CODEC)", GC_LIST_CODECS);
    text +=
        list_text("exchanges between the branches of a vertex (GC_EXCHANGE)", GC_LIST_EXCHANGES);
    text += list_text("builders of plans (GC_BUILDER)", GC_LIST_BUILDERS);
    text += list_text("vertices of a tree", GC_LIST_LEVELS);
    text += list_text("where trees come from (GC_TOPOLOGY)", GC_LIST_TREE_SOURCES);
    text += list_text("collectives", GC_LIST_COLLECTIVES);
    text += list_text("transports (GC_TRANSPORTS)", GC_LIST_TRANSPORTS);
    text += list_text("devices (GC_DEVICE)", GC_LIST_DEVICES);
    text += nic_agent_text();
    text += changed_settings_text();
    const auto lines = hints();
    if (!lines.empty()) text += "hints\n";
    for (const std::string& line : lines) text += fmt::format("  {}\n", line);
    return text + "more: gradcoll info --settings, --topology, --explain 64MiB float sum, --help\n";
}

std::vector<GC_Setting> matching_settings(const std::string& pattern) {
    std::vector<GC_Setting> rows;
    for (const GC_Setting& row : settings())
        if (fits(plain_name(pattern), row)) rows.push_back(row);
    if (rows.empty()) refuse(pattern);
    return rows;
}

std::string settings_text(const std::vector<GC_Setting>& rows) {
    std::string text;
    for (const GC_Setting& row : rows) text += block(row);
    return text + ignored_text();
}

std::string ignored_text() {
    std::string text;
    for (const GC_List_entry& complaint : entries(GC_LIST_COMPLAINTS))
        text += fmt::format("note: {}\n", complaint.text);
    return text;
}

}  // namespace gradcoll::info
