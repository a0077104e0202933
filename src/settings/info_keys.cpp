#include "settings/info_keys.hpp"

namespace gradcoll {

Result<std::vector<std::string>> gc_keys_of(MPI_Info info) {
    std::vector<std::string> keys;
    if (info == MPI_INFO_NULL) return keys;
    int count = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Info_get_nkeys(info, &count), "MPI_Info_get_nkeys"));
    for (int index = 0; index < count; ++index) {
        char key[MPI_MAX_INFO_KEY + 1];
        GRADCOLL_TRY(from_mpi(PMPI_Info_get_nthkey(info, index, key), "MPI_Info_get_nthkey"));
        if (std::string_view(key).starts_with("gc_")) keys.emplace_back(key);
    }
    return keys;
}

Result<std::optional<std::string>> info_value(MPI_Info info, const std::string& key) {
    if (info == MPI_INFO_NULL) return std::optional<std::string>();
    char value[MPI_MAX_INFO_VAL + 1] = {};
    int found = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Info_get(info, key.c_str(), MPI_MAX_INFO_VAL, value, &found),
                          "MPI_Info_get"));
    return found != 0 ? std::optional<std::string>(value) : std::nullopt;
}

Status add_info(MPI_Info info, SettingsText& text) {
    const auto keys = gc_keys_of(info);
    if (!keys) return keys.status();
    for (const std::string& key : *keys)
        if (const auto id = option_of_key(key); !id) return id.status();
    for (const OptionInfo& row : option_table()) {
        if (is_part(row) || row.info_key.empty()) continue;
        const auto value = info_value(info, std::string(row.info_key));
        if (!value) return value.status();
        if (value->has_value()) GRADCOLL_TRY(text.say(row.id, **value));
    }
    return {};
}

}  // namespace gradcoll
