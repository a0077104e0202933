// writers/json.cpp - the whole run as one JSON document.
#include <gradcoll/gradcoll.h>

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

}  // namespace

void write_json(const std::string& path, const std::string& mpi_library,
                const std::vector<Columns>& rows) {
    Json document;
    document["version"] = library_version();
    document["mpi_library"] = mpi_library;
    document["rows"] = Json::array();
    for (const Columns& row : rows) {
        document["rows"].push_back(json_of(row));
    }
    std::ofstream file(path);
    file << document.dump(2) << std::endl;
    if (!file) {
        throw std::runtime_error("--json " + path + ": cannot be written");
    }
}

}  // namespace gradcoll::bench
