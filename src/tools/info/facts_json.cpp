// info/facts_json.cpp - the facts for programs.
#include <nlohmann/json.hpp>

#include "ask.hpp"
#include "facts.hpp"

namespace gradcoll::info {
namespace {

using nlohmann::json;

std::string dumped(const json& value) {
    return value.dump(2, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace) + "\n";
}

json entries_json(GC_List list) {
    json rows = json::array();
    for (const GC_List_entry& row : entries(list))
        rows.push_back({{"name", row.name}, {"text", row.text}});
    return rows;
}

json setting_json(const GC_Setting& setting) {
    return {{"variable", setting.variable}, {"info_key", setting.info_key},
            {"value", setting.value},       {"default", setting.default_value},
            {"allowed", setting.allowed},   {"help", setting.help},
            {"source", setting.source},     {"place", setting.place}};
}

json settings_array(const std::vector<GC_Setting>& rows) {
    json array = json::array();
    for (const GC_Setting& row : rows) array.push_back(setting_json(row));
    return array;
}

json complaints_json() {
    json rows = json::array();
    for (const GC_List_entry& row : entries(GC_LIST_COMPLAINTS)) rows.push_back(row.text);
    return rows;
}

}  // namespace

std::string settings_json(const std::vector<GC_Setting>& rows) {
    return dumped({{"settings", settings_array(rows)}, {"complaints", complaints_json()}});
}

std::string overview_json() {
    const GC_Build b = build();
    json value;
    value["version"] = b.version;
    value["revision"] = b.revision;
    value["build"] = {
        {"type", b.build_type}, {"compiler", b.compiler}, {"sanitizers", b.sanitizers}};
    value["mpi"] = {{"built_for", b.mpi_built},
                    {"seen", b.mpi_seen},
                    {"text", b.mpi_text},
                    {"matches", b.mpi_matches != 0}};
    value["cpu"] = {{"found", b.cpu_found}, {"reductions", b.cpu_reduce}, {"codecs", b.cpu_codecs}};
    value["cuda_kernels"] = b.cuda_kernels != 0;
    value["codecs"] = entries_json(GC_LIST_CODECS);
    value["exchanges"] = entries_json(GC_LIST_EXCHANGES);
    value["builders"] = entries_json(GC_LIST_BUILDERS);
    value["levels"] = entries_json(GC_LIST_LEVELS);
    value["tree_sources"] = entries_json(GC_LIST_TREE_SOURCES);
    value["collectives"] = entries_json(GC_LIST_COLLECTIVES);
    value["transports"] = entries_json(GC_LIST_TRANSPORTS);
    value["devices"] = entries_json(GC_LIST_DEVICES);
    value["nic_agent"] = nic_agent_json();
    value["settings"] = settings_array(settings());
    value["complaints"] = complaints_json();
    value["hints"] = hints();
    return dumped(value);
}

}  // namespace gradcoll::info
