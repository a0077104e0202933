#include "ask.hpp"

namespace gradcoll::info {

namespace {

/// Returns the class of a code: while MPI runs the library returns codes of its own.
int class_of(int code) {
    int started = 0, ended = 0, its_class = code;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (started != 0 && ended == 0) MPI_Error_class(code, &its_class);
    return its_class;
}

}  // namespace

void require(int code) {
    if (code == MPI_SUCCESS) return;
    char text[GC_MAX_ERROR_STRING];
    GC_Error_string(code, text, nullptr);
    throw Refused(class_of(code), text);
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

}  // namespace gradcoll::info
