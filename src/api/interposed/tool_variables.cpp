// What tools of MPI_T read of the calls on a communicator: GC_Comm_get_stats as performance
// variables.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "api/interposed/entries.hpp"
#include "base/mpi/mpi.hpp"
#include "gradcoll/inspect.h"

namespace gradcoll {
namespace {

struct ToolVariable {
    const char* name;
    const char* text;
    int kind;
    unsigned long long (*read)(const GC_Stats& stats);
};

constexpr std::array tool_variable_table{
    ToolVariable{"gradcoll_calls_served",
                 "Collective calls on the communicator that Gradcoll carried out itself.",
                 MPI_T_PVAR_CLASS_COUNTER, [](const GC_Stats& stats) { return stats.calls_tree; }},
    ToolVariable{"gradcoll_calls_compressed", "How many of these used a lossy codec.",
                 MPI_T_PVAR_CLASS_COUNTER,
                 [](const GC_Stats& stats) { return stats.calls_compressed; }},
    ToolVariable{"gradcoll_calls_passed",
                 "Calls on the communicator that Gradcoll handed to the MPI library, once it was "
                 "attached.",
                 MPI_T_PVAR_CLASS_COUNTER,
                 [](const GC_Stats& stats) { return stats.calls_passed; }},
    ToolVariable{"gradcoll_bytes_reduced", "Vector bytes of the calls that were served.",
                 MPI_T_PVAR_CLASS_COUNTER,
                 [](const GC_Stats& stats) { return stats.bytes_reduced; }},
    ToolVariable{"gradcoll_bytes_sent", "Bytes that this process sent for them.",
                 MPI_T_PVAR_CLASS_COUNTER, [](const GC_Stats& stats) { return stats.bytes_sent; }},
    // What incompressible data adds makes it fall, so it is no counter.
    ToolVariable{"gradcoll_bytes_saved",
                 "How many bytes more the exact codec would have sent for them; 0 if none.",
                 MPI_T_PVAR_CLASS_GENERIC,
                 [](const GC_Stats& stats) {
                     return stats.bytes_sent_exact -
                            std::min(stats.bytes_sent, stats.bytes_sent_exact);
                 }},
};

struct ToolHandle {
    const void* session;
    MPI_Comm comm;
    std::size_t variable;
    unsigned long long start;  ///< the value when the handle was made
};

/// ToolHandles has those that tools have now. It is never destroyed while the process exits.
struct ToolHandles {
    std::mutex mutex;
    std::unordered_map<const void*, std::unique_ptr<ToolHandle>> all;
};
ToolHandles& tool_handles() {
    static ToolHandles& kept = *new ToolHandles;
    return kept;
}

std::optional<ToolHandle> tool_handle(const void* session, const void* handle) {
    const std::scoped_lock lock(tool_handles().mutex);
    const auto at = tool_handles().all.find(handle);
    if (at == tool_handles().all.end() || at->second->session != session) return std::nullopt;
    return *at->second;
}

template <class T>
void put(void* place, T value) {
    if (place != nullptr) *static_cast<T*>(place) = value;
}

/// Writes a text as MPI_T does: as much as fits, and the length with the final 0.
void put_text(std::string_view text, char* place, int* length) {
    if (length == nullptr) return;
    std::size_t copied = text.size();
    if (place != nullptr && *length > 0) {
        copied = std::min(copied, static_cast<std::size_t>(*length) - 1);
        std::memcpy(place, text.data(), copied);
        place[copied] = '\0';
    }
    *length = static_cast<int>(copied) + 1;
}

int variable_info(int variable, char* name, int* name_length, int* verbosity, int* kind,
                  void* datatype, void* names, char* text, int* text_length, int* bind,
                  int* readonly, int* continuous, int* atomic) noexcept {
    const ToolVariable& one = tool_variable_table.at(static_cast<std::size_t>(variable));
    put_text(one.name, name, name_length);
    put_text(one.text, text, text_length);
    put<int>(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    put<int>(kind, one.kind);
    put<MPI_Datatype>(datatype, MPI_UNSIGNED_LONG_LONG);
    put<MPI_T_enum>(names, MPI_T_ENUM_NULL);
    put<int>(bind, MPI_T_BIND_MPI_COMM);
    put<int>(readonly, 1);
    put<int>(continuous, 1);
    put<int>(atomic, 0);
    return MPI_SUCCESS;
}

int find_variable(const char* name, int kind) noexcept {
    if (name == nullptr) return -1;
    const auto at = std::find_if(
        tool_variable_table.begin(), tool_variable_table.end(), [&](const ToolVariable& variable) {
            return variable.kind == kind && std::string_view(variable.name) == name;
        });
    return at == tool_variable_table.end() ? -1
                                           : static_cast<int>(at - tool_variable_table.begin());
}

/// Returns what the variable counts now; nothing if the communicator is none.
std::optional<unsigned long long> value_of(std::size_t variable, MPI_Comm comm) {
    GC_Stats stats{};
    if (GC_Comm_get_stats(comm, &stats) != MPI_SUCCESS) return std::nullopt;
    return tool_variable_table.at(variable).read(stats);
}

int open_variable(const void* session, int variable, const void* comm, void* handle,
                  int* count) noexcept try {
    if (session == nullptr || comm == nullptr || handle == nullptr || count == nullptr)
        return MPI_T_ERR_INVALID;
    ToolHandle made{session, *static_cast<const MPI_Comm*>(comm),
                    static_cast<std::size_t>(variable), 0};
    const auto start = value_of(made.variable, made.comm);
    if (!start) return MPI_T_ERR_INVALID;
    made.start = *start;
    auto kept = std::make_unique<ToolHandle>(made);
    const void* const key = kept.get();
    const std::scoped_lock lock(tool_handles().mutex);
    tool_handles().all[key] = std::move(kept);
    put(handle, key);
    *count = 1;
    return MPI_SUCCESS;
} catch (...) {
    return MPI_T_ERR_MEMORY;
}

int owns_variable(const void* handle) noexcept {
    const std::scoped_lock lock(tool_handles().mutex);
    return tool_handles().all.count(handle) > 0 ? 1 : 0;
}

int close_variable(const void* session, void** handle) noexcept {
    if (!tool_handle(session, *handle)) return MPI_T_ERR_INVALID_SESSION;
    const std::scoped_lock lock(tool_handles().mutex);
    tool_handles().all.erase(*handle);
    put<MPI_T_pvar_handle>(handle, MPI_T_PVAR_HANDLE_NULL);
    return MPI_SUCCESS;
}

int read_variable(const void* session, const void* handle, void* value) noexcept {
    const std::optional<ToolHandle> one = tool_handle(session, handle);
    if (!one) return MPI_T_ERR_INVALID_SESSION;
    const auto now = value_of(one->variable, one->comm);
    if (!now) return MPI_T_ERR_INVALID_HANDLE;
    // GC_Comm_reset_stats may have set it back meanwhile.
    put<unsigned long long>(value, *now - std::min(one->start, *now));
    return MPI_SUCCESS;
}

}  // namespace

const GC_Tool_variables tool_variables = {
    .count = static_cast<int>(tool_variable_table.size()),
    .info = variable_info,
    .find = find_variable,
    .open = open_variable,
    .owns = owns_variable,
    .close = close_variable,
    .read = read_variable,
    .no_start_stop = MPI_T_ERR_PVAR_NO_STARTSTOP,
    .no_write = MPI_T_ERR_PVAR_NO_WRITE,
    .no_atomic = MPI_T_ERR_PVAR_NO_ATOMIC,
};

}  // namespace gradcoll
