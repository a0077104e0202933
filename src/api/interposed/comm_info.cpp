#include "api/interposed/comm_info.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "api/comm/attachments.hpp"
#include "api/edge/boundary.hpp"
#include "api/interposed/offer.hpp"
#include "base/log.hpp"

namespace gradcoll {
namespace {

constexpr std::string_view key_prefix = "gc_";
static_assert(static_cast<std::size_t>(OptionId::count) <= 64, "one bit a setting");

/// What one info object says: the settings it names, and keys that are none.
struct InfoKeys {
    std::uint64_t settings = 0;  ///< a bit for each, by its place in the table
    std::vector<std::string> unknown;
};

std::uint64_t bit_of(OptionId id) {
    return std::uint64_t{1} << static_cast<unsigned>(id);
}

Result<InfoKeys> keys_of(MPI_Info info) {
    InfoKeys keys;
    if (info == MPI_INFO_NULL) return keys;
    int count = 0;
    GRADCOLL_TRY(from_mpi(PMPI_Info_get_nkeys(info, &count), "MPI_Info_get_nkeys"));
    for (int index = 0; index < count; ++index) {
        char key[MPI_MAX_INFO_KEY + 1];
        GRADCOLL_TRY(from_mpi(PMPI_Info_get_nthkey(info, index, key), "MPI_Info_get_nthkey"));
        if (!std::string_view(key).starts_with(key_prefix)) continue;
        if (const auto id = option_of_key(key); id)
            keys.settings |= bit_of(*id);
        else
            keys.unknown.push_back(id.status().message());
    }
    return keys;
}

/// The keys that any rank has. Collective.
Result<std::uint64_t> settings_on_any_rank(MPI_Comm comm, std::uint64_t mine) {
    std::uint64_t all = mine;
    GRADCOLL_TRY(
        from_mpi(PMPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, comm), "MPI_Allreduce"));
    return all;
}

std::optional<std::string> value_of(MPI_Info info, std::string_view key) {
    if (info == MPI_INFO_NULL) return std::nullopt;
    char value[MPI_MAX_INFO_VAL + 1] = {};
    int found = 0;
    const int code = PMPI_Info_get(info, std::string(key).c_str(), MPI_MAX_INFO_VAL, value, &found);
    if (code != MPI_SUCCESS || found == 0) return std::nullopt;
    return std::string(value);
}

void warn_on_rank_0(const CommContext& context, std::string_view key, const std::string& why) {
    log(context.rank() == 0 ? LogLevel::warn : LogLevel::debug,
        "info key {} of communicator '{}' is ignored: {}", key, context.name(), why);
}

void take_setting(CommContext& context, MPI_Info info, const OptionInfo& row) {
    SettingsText proposed = context.settings_text();
    Status complaint;
    if (const auto value = value_of(info, row.info_key))
        proposed.say(row.id, *value);
    else
        complaint = {Code::invalid_argument, "some ranks do not have it"};
    if (const Status taken = context.change_settings(proposed, complaint); !taken.ok())
        warn_on_rank_0(context, row.info_key, taken.message());
}

Status take_keys(CommContext& context, MPI_Info info, const InfoKeys& keys) {
    for (const std::string& why : keys.unknown) warn_on_rank_0(context, "gc_*", why);
    const auto named = settings_on_any_rank(context.private_comm(), keys.settings);
    if (!named) return named.status();
    for (const OptionInfo& row : option_table())
        if ((*named & bit_of(row.id)) != 0) take_setting(context, info, row);
    return {};
}

/// Puts the gc_* keys of `from` into `to`.
Status copy_keys(MPI_Info from, MPI_Info to) {
    int count = 0;
    if (from != MPI_INFO_NULL)
        GRADCOLL_TRY(from_mpi(PMPI_Info_get_nkeys(from, &count), "MPI_Info_get_nkeys"));
    for (int index = 0; index < count; ++index) {
        char key[MPI_MAX_INFO_KEY + 1];
        GRADCOLL_TRY(from_mpi(PMPI_Info_get_nthkey(from, index, key), "MPI_Info_get_nthkey"));
        const auto value = value_of(from, key);
        if (std::string_view(key).starts_with(key_prefix) && value)
            GRADCOLL_TRY(from_mpi(PMPI_Info_set(to, key, value->c_str()), "MPI_Info_set"));
    }
    return {};
}

/// Keys that MPI has kept from earlier, and over them those of `info` (which MPI may have kept,
/// too).
Status take_info_with_kept(MPI_Comm comm, CommContext& context, MPI_Info info) {
    MPI_Info all = MPI_INFO_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_get_info(comm, &all), "MPI_Comm_get_info"));
    if (all == MPI_INFO_NULL) GRADCOLL_TRY(from_mpi(PMPI_Info_create(&all), "MPI_Info_create"));
    Status status = copy_keys(info, all);
    if (status.ok()) status = take_info(context, all);
    PMPI_Info_free(&all);
    return status;
}

/// Only communicators that can ever use settings are asked whether any rank has some.
Status take_new_info(MPI_Comm comm, MPI_Info info) {
    int is_inter = 0;
    int rank_count = 1;
    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_size(comm, &rank_count);
    if (is_inter != 0 || rank_count == 1) return {};
    const auto keys = keys_of(info);
    if (!keys) return keys.status();
    const std::uint64_t mine = keys->settings | (keys->unknown.empty() ? 0 : ~std::uint64_t{0});
    const auto any = settings_on_any_rank(comm, mine);
    if (!any) return any.status();
    if (*any == 0) return {};
    bool attached_now = false;
    const OfferedComm found = comm_for_info(comm, attached_now);
    if (found.left_because != nullptr) return {};
    if (!attached_now) return take_keys(*found.context, info, *keys);
    return take_info_with_kept(comm, *found.context, info);
}

}  // namespace

std::string name_of_comm(MPI_Comm comm) {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    return name;
}

Status take_info(CommContext& context, MPI_Info info) {
    const auto keys = keys_of(info);
    return keys ? take_keys(context, info, *keys) : keys.status();
}

Status take_info_of(MPI_Comm comm, CommContext& context) {
    MPI_Info info = MPI_INFO_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_get_info(comm, &info), "MPI_Comm_get_info"));
    const Status status = take_info(context, info);
    if (info != MPI_INFO_NULL) PMPI_Info_free(&info);
    return status;
}

void info_was_set(MPI_Comm comm, MPI_Info info) noexcept try {
    if (!mpi_is_running() || comm == MPI_COMM_NULL) return;
    const Status status = take_new_info(comm, info);
    if (!status.ok()) log(LogLevel::warn, "info of communicator: {}", status.message());
} catch (...) {
    log(LogLevel::warn, "info of communicator: {}", status_of_current_exception().message());
}

}  // namespace gradcoll
