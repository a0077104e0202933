// GC_Get_setting_count, GC_Get_setting, GC_Get_build, GC_Get_list_size, GC_Get_list_entry. They
// need no MPI, so no error handler is called: the code is returned, the message kept for
// GC_Error_string.
#include <fmt/format.h>

#include "api/inspect/process_facts.hpp"
#include "mpi/boundary.hpp"

namespace gradcoll {
namespace {

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
