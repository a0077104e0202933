// api/inspect/process_facts.cpp - GC_Get_setting_count, GC_Get_setting, GC_Get_build,
// GC_Get_list_size, GC_Get_list_entry. They need no MPI, so no error handler is called: the code is
// returned, the message kept for GC_Error_string.
#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/build_facts.hpp"
#include "base/cpu.hpp"
#include "base/options.hpp"
#include "collectives/build/builder.hpp"
#include "collectives/choose/policy.hpp"
#include "collectives/exchange/exchange.hpp"
#include "compress/codec.hpp"
#include "device/devices.hpp"
#include "gradcoll/inspect.h"
#include "mpi/boundary.hpp"
#include "mpi/mpi_identity.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"
#include "topology/sources/job/source_table.hpp"
#include "topology/tree.hpp"
#include "transport/routed/transport.hpp"

namespace gradcoll {
namespace {

/// Keeps the text where it never moves and is never freed.
const char* kept(std::string text) {
    static auto& texts = *new std::deque<std::string>;
    static auto& mutex = *new std::mutex;
    const std::scoped_lock lock(mutex);
    return texts.emplace_back(std::move(text)).c_str();
}

const char* kept(std::string_view text) {
    return kept(std::string(text));
}

GC_Setting told(const OptionInfo& row) {
    const OptionValue value = checked_options().with_parts(row.id);
    const bool from_file = value.source == OptionSource::config_file;
    GC_Setting setting;
    setting.variable = kept(row.variable);
    setting.info_key = kept(row.info_key);
    setting.value = kept(value.text);
    setting.default_value = kept(row.default_value);
    setting.allowed = kept(allowed_with_parts(row.id));
    setting.help = kept(help_with_parts(row.id));
    setting.source = kept(name_of(value.source));
    setting.place = from_file ? kept(value.place) : "";
    return setting;
}

std::string sets_of_this_cpu() {
    std::string text;
    for (const InstructionSet set : all_instruction_sets)
        if (cpu_has(set)) text += fmt::format("{}{}", text.empty() ? "" : " ", name_of(set));
    return text;
}

GC_Build make_build() {
    const std::string mpi_text = mpi_library_text();
    const MpiIdentity seen = mpi_seen();
    GC_Build build;
    build.version = build_facts::version;
    build.revision = build_facts::revision;
    build.build_type = build_facts::build_type;
    build.compiler = build_facts::compiler;
    build.sanitizers = build_facts::sanitizers;
    build.mpi_built = kept(mpi_built_for().text());
    build.mpi_seen = kept(seen.text());
    build.mpi_text = kept(mpi_text);
    build.mpi_matches = are_compatible(mpi_built_for(), seen) ? 1 : 0;
    build.cpu_found = kept(sets_of_this_cpu());
    build.cpu_reduce = kept(name_of(best_instruction_set()));
    build.cpu_codecs = kept(name_of(best_codec_set()));
    build.cuda_kernels = build_facts::has_cuda_kernels ? 1 : 0;
    return build;
}

/// Returns a text like "; parameters: /abs=, /seed="; nothing if the codec takes none.
std::string parameters_text(CodecId codec) {
    const TakenParameters& taken = parameters_for(codec);
    std::vector<std::string_view> names;
    if (taken.abs) names.emplace_back("/abs=");
    if (taken.rel) names.emplace_back("/rel=");
    if (taken.seed) names.emplace_back("/seed=");
    return names.empty() ? "" : fmt::format("; parameters: {}", fmt::join(names, ", "));
}

/// Returns a text like "keeps ...; sums of fp16, bf16, fp32, fp64; fp32 takes 1/1.88 of the bytes".
std::string text_of(CodecId codec) {
    constexpr std::size_t count = lossy_block_elems;
    constexpr std::size_t raw = count * sizeof(float);
    const std::size_t bytes = bound_bytes(codec, sizeof(float), count);
    if (!has_fixed_rate(codec))
        return fmt::format("{}; sums of {}; as many bytes as it needs", description_of(codec),
                           types_of(codec));
    if (bytes == raw) return fmt::format("{}; {}", description_of(codec), types_of(codec));
    return fmt::format("{}; sums of {}; fp32 takes 1/{:.3g} of the bytes", description_of(codec),
                       types_of(codec), static_cast<double>(raw) / static_cast<double>(bytes));
}

using Entries = std::vector<GC_List_entry>;

Entries codecs() {
    Entries entries;
    for (const CodecId codec : all_codecs())
        entries.push_back({kept(name_of(codec)), kept(text_of(codec) + parameters_text(codec))});
    return entries;
}

Entries exchanges() {
    Entries entries;
    for (const Exchange exchange : all_exchanges())
        if (exchange != Exchange::merged)
            entries.push_back({kept(name_of(exchange)), kept(text_of(exchange))});
    return entries;
}

Entries builders() {
    Entries entries;
    for (const BuilderRow* row : builder_table())
        entries.push_back({kept(row->name), kept(row->text)});
    return entries;
}

Entries levels() {
    constexpr std::pair<VertexKind, std::string_view> kinds[] = {
        {VertexKind::rank, "a leaf: one MPI process"},
        {VertexKind::core, "processes bound to one core"},
        {VertexKind::cache, "cores that share a cache"},
        {VertexKind::numa, "cores that share memory of their own"},
        {VertexKind::package, "a processor in its socket"},
        {VertexKind::bridge, "devices below one PCI bridge"},
        {VertexKind::gpu, "a GPU, above or at the processes that use it"},
        {VertexKind::host, "processes that share memory"},
        {VertexKind::fabric_switch, "hosts at one switch; only in written trees"},
        {VertexKind::group, "anything else that belongs together"}};
    Entries entries;
    for (const auto& [kind, text] : kinds) entries.push_back({kept(name_of(kind)), kept(text)});
    return entries;
}

Entries tree_sources() {
    Entries entries{{"auto", "hwloc inside hosts, SLURM's switches between them if it names any"}};
    for (const Part part : {Part::whole, Part::inside, Part::between})
        for (const SourceRow& row : source_table())
            if (row.part == part && !row.help.empty())
                entries.push_back(
                    {kept(row.example.empty() ? row.forms : row.example), kept(row.help)});
    return entries;
}

Entries collectives() {
    return {
        {"MPI_Allreduce", "GC_Allreduce, GC_Allreduce_c, GC_Allreduce_residual"},
        {"MPI_Iallreduce", "GC_Iallreduce, GC_Iallreduce_c"},
        {"MPI_Allreduce_init", "GC_Allreduce_init, GC_Start, GC_Test, GC_Wait"},
        {"MPI_Reduce_scatter_block", "GC_Reduce_scatter_block, GC_Reduce_scatter_block_residual"},
        {"MPI_Reduce_scatter", "the interposer alone, where all blocks have one size"},
        {"MPI_Allgather", "GC_Allgather"}};
}

Entries complaints() {
    Entries entries;
    for (const OptionComplaint& complaint : checked_options().complaints())
        entries.push_back({"", kept(complaint.text)});
    return entries;
}

std::string text_of(const DevicePlugin& plugin, int number) {
    const Result<Device*> device = plugin.device(number);
    if (!device.ok()) return device.status().message();
    const DevicePlace& place = (*device)->place();
    return fmt::format("{}, PCI {}", place.name, place.bus_id);
}

Entries devices() {
    const DevicePlugin* plugin = Devices::of_process().look_for_plugin();
    if (plugin == nullptr) return {{"none", kept(Devices::of_process().why_inactive())}};
    Entries entries{{kept(std::string_view(plugin->name)), "active"}};
    for (int number = 0; number < plugin->device_count(); ++number)
        entries.push_back({kept(std::to_string(number)), kept(text_of(*plugin, number))});
    return entries;
}

Entries transports() {
    Entries entries;
    for (const Transport* row : transport_table())
        entries.push_back({kept(row->name), kept(row->description)});
    return entries;
}

// ---- facts of the process as C structs with texts that stay. Each is made at the first question
// and never destroyed: questions may still come while the process leaves. They are the same every
// time, and thread safe.

const std::vector<GC_Setting>& settings_told() {
    static const auto& settings = *new auto([] {
        std::vector<GC_Setting> rows;
        for (const OptionInfo& row : option_table())
            if (!is_part(row)) rows.push_back(told(row));
        return rows;
    }());
    return settings;
}

const GC_Build& build_told() {
    static const GC_Build build = make_build();
    return build;
}

/// Returns null for a list that does not exist.
const std::vector<GC_List_entry>* list_told(GC_List list) {
    if (list == GC_LIST_DEVICES) {  // this loads a plug-in, which other questions should not
        static const auto& of_process = *new Entries(devices());
        return &of_process;
    }
    // The lists are in the order of GC_List; that of devices is above.
    static const auto& lists = *new std::vector<Entries>{
        codecs(),     exchanges(), levels(),     tree_sources(), collectives(),
        complaints(), {},          transports(), builders()};
    const auto index = static_cast<std::size_t>(list);
    return index < lists.size() ? &lists[index] : nullptr;
}

// ---- the calls

template <class Row>
Result<Row> row_at(const std::vector<Row>& rows, int index) {
    if (index >= 0 && static_cast<std::size_t>(index) < rows.size())
        return rows[static_cast<std::size_t>(index)];
    return Status(Code::invalid_argument,
                  fmt::format("index is {}; allowed are 0 and more below {}", index, rows.size()));
}

Result<const std::vector<GC_List_entry>*> find_list(GC_List list) {
    if (const auto* entries = list_told(list)) return entries;
    return Status(Code::invalid_argument,
                  fmt::format("list is {}; allowed are GC_LIST_CODECS to GC_LIST_BUILDERS",
                              static_cast<int>(list)));
}

/// Puts what `ask` returns (a Result) into `*out`, the argument of that name.
template <class T, class Ask>
int tell(const char* call, const char* argument, T* out, Ask&& ask) {
    return without_mpi(call, [&]() -> Status {
        if (out == nullptr) return {Code::invalid_argument, fmt::format("{} is null", argument)};
        return take(*out, Result<T>(ask()));
    });
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Get_setting_count(int* count) {
    return tell("GC_Get_setting_count", "count", count,
                [] { return static_cast<int>(settings_told().size()); });
}

extern "C" int GC_Get_setting(int index, GC_Setting* setting) {
    return tell("GC_Get_setting", "setting", setting,
                [&] { return row_at(settings_told(), index); });
}

extern "C" int GC_Get_build(GC_Build* build) {
    return tell("GC_Get_build", "build", build, build_told);
}

extern "C" int GC_Get_list_size(GC_List list, int* size) {
    return tell("GC_Get_list_size", "size", size, [&]() -> Result<int> {
        const auto entries = find_list(list);
        if (!entries) return entries.status();
        return static_cast<int>((*entries)->size());
    });
}

extern "C" int GC_Get_list_entry(GC_List list, int index, GC_List_entry* entry) {
    return tell("GC_Get_list_entry", "entry", entry, [&]() -> Result<GC_List_entry> {
        const auto entries = find_list(list);
        if (!entries) return entries.status();
        return row_at(**entries, index);
    });
}
