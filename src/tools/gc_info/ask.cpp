#include "ask.hpp"

namespace gc_info {

void require(int code) {
    if (code == MPI_SUCCESS) return;
    char text[GC_MAX_ERROR_STRING];
    GC_Error_string(code, text, nullptr);
    throw Refused(code, text);
}

GC_Build build() {
    GC_Build build{};
    require(GC_Get_build(&build));
    return build;
}

std::vector<GC_Setting> settings() {
    int count = 0;
    require(GC_Get_setting_count(&count));
    std::vector<GC_Setting> rows(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) require(GC_Get_setting(i, &rows[static_cast<std::size_t>(i)]));
    return rows;
}

std::vector<GC_List_entry> entries(GC_List list) {
    int size = 0;
    require(GC_Get_list_size(list, &size));
    std::vector<GC_List_entry> rows(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i)
        require(GC_Get_list_entry(list, i, &rows[static_cast<std::size_t>(i)]));
    return rows;
}

}  // namespace gc_info
