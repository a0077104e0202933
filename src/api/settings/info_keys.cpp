#include "api/settings/info_keys.hpp"

#include <string>

namespace gradcoll {
namespace {

/// Every gc_* key must be a setting.
Status check_keys(MPI_Info info) {
    constexpr std::string_view ours = "gc_";
    int count = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Info_get_nkeys(info, &count), "MPI_Info_get_nkeys"));
    for (int index = 0; index < count; ++index) {
        char key[MPI_MAX_INFO_KEY + 1];
        GRADCOLL_TRY(from_mpi(PMPI_Info_get_nthkey(info, index, key), "MPI_Info_get_nthkey"));
        if (!std::string_view(key).starts_with(ours)) continue;
        if (const auto id = option_of_key(key); !id) return id.status();
    }
    return {};
}

Status say_value(MPI_Info info, const OptionInfo& row, SettingsText& text) {
    const std::string key(row.info_key);
    char value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Info_get(info, key.c_str(), MPI_MAX_INFO_VAL, value, &found),
                          "MPI_Info_get"));
    if (found != 0) text.say(row.id, value);
    return {};
}

}  // namespace

Status add_info(MPI_Info info, SettingsText& text) {
    if (info == MPI_INFO_NULL) return {};
    GRADCOLL_TRY(check_keys(info));
    for (const OptionInfo& row : option_table())
        if (!row.info_key.empty()) GRADCOLL_TRY(say_value(info, row, text));
    return {};
}

}  // namespace gradcoll
