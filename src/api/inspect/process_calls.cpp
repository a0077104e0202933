// GC_Get_setting_count, GC_Get_setting, GC_Get_build, GC_Get_list_size, GC_Get_list_entry. They
// need no MPI, so no error handler is called: the code is returned, the message kept for
// GC_Error_string.
#include <fmt/format.h>

#include "api/edge/boundary.hpp"
#include "api/inspect/process_facts.hpp"

namespace gradcoll {
namespace {

Status check_index(int index, std::size_t size) {
    if (index >= 0 && static_cast<std::size_t>(index) < size) return {};
    return {Code::invalid_argument,
            fmt::format("index is {}; allowed are 0 and more below {}", index, size)};
}

Status missing(const char* argument) {
    return {Code::invalid_argument, fmt::format("{} is null", argument)};
}

Result<const std::vector<GC_List_entry>*> find_list(GC_List list) {
    if (const auto* entries = list_told(list)) return entries;
    return Status(Code::invalid_argument,
                  fmt::format("list is {}; allowed are GC_LIST_CODECS to GC_LIST_DEVICES",
                              static_cast<int>(list)));
}

}  // namespace
}  // namespace gradcoll

using namespace gradcoll;

extern "C" int GC_Get_setting_count(int* count) {
    return without_mpi("GC_Get_setting_count", [&]() -> Status {
        if (count == nullptr) return missing("count");
        *count = static_cast<int>(settings_told().size());
        return {};
    });
}

extern "C" int GC_Get_setting(int index, GC_Setting* setting) {
    return without_mpi("GC_Get_setting", [&]() -> Status {
        if (setting == nullptr) return missing("setting");
        GRADCOLL_TRY(check_index(index, settings_told().size()));
        *setting = settings_told()[static_cast<std::size_t>(index)];
        return {};
    });
}

extern "C" int GC_Get_build(GC_Build* build) {
    return without_mpi("GC_Get_build", [&]() -> Status {
        if (build == nullptr) return missing("build");
        *build = build_told();
        return {};
    });
}

extern "C" int GC_Get_list_size(GC_List list, int* size) {
    return without_mpi("GC_Get_list_size", [&]() -> Status {
        if (size == nullptr) return missing("size");
        const auto entries = find_list(list);
        if (!entries) return entries.status();
        *size = static_cast<int>((*entries)->size());
        return {};
    });
}

extern "C" int GC_Get_list_entry(GC_List list, int index, GC_List_entry* entry) {
    return without_mpi("GC_Get_list_entry", [&]() -> Status {
        if (entry == nullptr) return missing("entry");
        const auto entries = find_list(list);
        if (!entries) return entries.status();
        GRADCOLL_TRY(check_index(index, (*entries)->size()));
        *entry = (**entries)[static_cast<std::size_t>(index)];
        return {};
    });
}
