#include "api/info.hpp"

namespace gradcoll {
namespace {

Status add_key(MPI_Info info, int index, SettingsText& text) {
    constexpr std::string_view ours = "gc_";
    char key[MPI_MAX_INFO_KEY + 1];
    char value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Info_get_nthkey(info, index, key), "MPI_Info_get_nthkey"));
    if (!std::string_view(key).starts_with(ours)) return {};
    GRADCOLL_TRY(
        from_mpi(PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found), "MPI_Info_get"));
    return text.set_key(key, value);
}

}  // namespace

Status add_info(MPI_Info info, SettingsText& text) {
    if (info == MPI_INFO_NULL) return {};
    int count = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Info_get_nkeys(info, &count), "MPI_Info_get_nkeys"));
    for (int index = 0; index < count; ++index) GRADCOLL_TRY(add_key(info, index, text));
    return {};
}

}  // namespace gradcoll
