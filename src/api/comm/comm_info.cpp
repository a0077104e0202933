#include "api/comm/comm_info.hpp"

#include <string>
#include <vector>

#include "api/settings/info_keys.hpp"
#include "base/log.hpp"

namespace gradcoll {
namespace {

static_assert(most_options <= 64, "one bit a setting");

/// What one info object says: the settings it names, and keys that are none.
struct InfoKeys {
    std::uint64_t settings = 0;  ///< a bit for each, by its place in the table
    std::vector<std::string> unknown;
};

std::uint64_t bit_of(OptionId id) {
    return std::uint64_t{1} << static_cast<unsigned>(id);
}

Result<InfoKeys> keys_of(MPI_Info info) {
    const auto names = gc_keys_of(info);
    if (!names) return names.status();
    InfoKeys keys;
    for (const std::string& name : *names)
        if (const auto id = option_of_key(name); id)
            keys.settings |= bit_of(*id);
        else
            keys.unknown.push_back(id.status().message());
    return keys;
}

/// The keys that any rank has. Collective.
Result<std::uint64_t> settings_on_any_rank(MPI_Comm comm, std::uint64_t mine) {
    std::uint64_t all = mine;
    GRADCOLL_TRY(
        from_mpi(PMPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, comm), "MPI_Allreduce"));
    return all;
}

void warn_on_rank_0(const CommContext& context, std::string_view key, const std::string& why) {
    log(context.identity().rank() == 0 ? LogLevel::warn : LogLevel::debug,
        "info key {} of communicator '{}' is ignored: {}", key, context.identity().name(), why);
}

void take_setting(CommContext& context, MPI_Info info, const OptionInfo& row) {
    SettingsText proposed = context.settings().text();
    Status complaint;
    if (const auto value = info_value(info, std::string(row.info_key)); value && *value)
        proposed.say(row.id, **value);
    else
        complaint = {Code::invalid_argument, "some ranks do not have it"};
    if (const Status taken = context.change_settings(proposed, complaint); !taken.ok())
        warn_on_rank_0(context, row.info_key, taken.message());
}

}  // namespace

Status take_info(CommContext& context, MPI_Info info) {
    const auto keys = keys_of(info);
    if (!keys) return keys.status();
    for (const std::string& why : keys->unknown) warn_on_rank_0(context, "gc_*", why);
    const auto named = settings_on_any_rank(context.identity().private_comm(), keys->settings);
    if (!named) return named.status();
    for (const OptionInfo& row : option_table())
        if ((*named & bit_of(row.id)) != 0) take_setting(context, info, row);
    return {};
}

Status take_info_of(MPI_Comm comm, CommContext& context) {
    MPI_Info info = MPI_INFO_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_get_info(comm, &info), "MPI_Comm_get_info"));
    Status status = take_info(context, info);
    if (info != MPI_INFO_NULL) PMPI_Info_free(&info);
    return status;
}

}  // namespace gradcoll
