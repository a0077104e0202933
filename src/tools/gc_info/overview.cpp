#include "overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ask.hpp"
#include "settings.hpp"

namespace gc_info {
namespace {

constexpr const char* setting_codecs[] = {"GC_CODEC", "GC_LEVEL_CODECS", "GC_SCHEDULE"};

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
    for (const char* variable : setting_codecs) {
        const std::string value = value_of(variable);
        if (value.empty() || value == "exact") continue;
        hints.push_back(
            fmt::format("{}={} is for every communicator of the program: floating-point sums "
                        "from GC_MIN_BYTES up are approximate where the codec is lossy; "
                        "GC_COMPRESS_COMMS and GC_COMPRESS_CALLS narrow it down",
                        variable, value));
    }
}

}  // namespace

std::vector<std::string> hints() {
    std::vector<std::string> hints;
    add_hints_on_build(build(), hints);
    for (const GC_List_entry& complaint : entries(GC_LIST_COMPLAINTS))
        hints.emplace_back(complaint.text);
    add_hints_on_codecs(hints);
    return hints;
}

std::string overview_text() {
    std::string text = build_text(build());
    text += list_text("codecs (GC_CODEC)", GC_LIST_CODECS);
    text +=
        list_text("exchanges between the branches of a vertex (GC_EXCHANGE)", GC_LIST_EXCHANGES);
    text += list_text("vertices of a tree", GC_LIST_LEVELS);
    text += list_text("where trees come from (GC_TOPOLOGY)", GC_LIST_TREE_SOURCES);
    text += list_text("collectives", GC_LIST_COLLECTIVES);
    text += list_text("devices (GC_DEVICE)", GC_LIST_DEVICES);
    text += changed_settings_text();
    const auto lines = hints();
    if (!lines.empty()) text += "hints\n";
    for (const std::string& line : lines) text += fmt::format("  {}\n", line);
    return text + "more: gc_info --settings, --topology, --explain 64MiB float sum, --help\n";
}

}  // namespace gc_info
