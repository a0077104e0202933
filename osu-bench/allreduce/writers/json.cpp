// writers/json.cpp - writes the whole run as one JSON document.
#include <gradcoll/gradcoll.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "writers/writers.hpp"

namespace gradcoll::bench {
namespace {

using Json = nlohmann::ordered_json;

struct CellJson {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const auto& value) const { return value; }
};

Json json_of(const Columns& columns) {
    Json object = Json::object();
    for (const auto& [name, value] : columns) {
        object[std::string(name)] = std::visit(CellJson{}, value);
    }
    return object;
}

std::string library_version() {
    int major = 0;
    int minor = 0;
    int patch = 0;
    GC_Get_version(&major, &minor, &patch);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

Json json_of(const TableSummary& table) {
    const Summary& summary = table.summary;
    return {{"codec", table.codec},
            {"sizes", summary.sizes},
            {"geometric_mean", summary.geometric_mean},
            {"worst_ratio", summary.worst.ratio},
            {"worst_size_bytes", summary.worst.size_bytes},
            {"losses", summary.losses},
            {"loss_below", loss_below}};
}

}  // namespace

void write_json(const std::string& path, const Report& report) {
    Json document;
    document["version"] = library_version();
    document["mpi_library"] = report.mpi_library;
    document["peer"] = report.peer;
    document["summaries"] = Json::array();
    for (const TableSummary& table : report.summaries) {
        document["summaries"].push_back(json_of(table));
    }
    document["rows"] = Json::array();
    for (const Columns& row : report.rows) {
        document["rows"].push_back(json_of(row));
    }
    std::ofstream file(path);
    file << document.dump(2) << std::endl;
    if (!file) {
        throw std::runtime_error("--json " + path + ": cannot be written");
    }
}

}  // namespace gradcoll::bench
