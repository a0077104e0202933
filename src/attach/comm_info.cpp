#include "attach/comm_info.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/mpi/exchange.hpp"
#include "settings/info_keys.hpp"

namespace gradcoll {
namespace {

static_assert(most_options <= 64, "one bit a setting");

/// InfoKeys is what one info object says: the settings it names, and keys that name none.
struct InfoKeys {
    std::uint64_t settings = 0;        ///< one bit for each setting, by its place in the table
    std::uint64_t may_limit_loss = 0;  ///< 1: a key that names no setting was meant to limit loss
    std::vector<std::string> unknown;
};

std::uint64_t bit_of(OptionId id) {
    return std::uint64_t{1} << static_cast<unsigned>(id);
}

void add_unknown(InfoKeys& keys, const std::string& name, const Status& why) {
    const OptionInfo* const meant = meant_option_of_name(name);
    if (meant != nullptr && meant->limits_loss) keys.may_limit_loss = 1;
    keys.unknown.push_back(why.message());
}

Result<InfoKeys> keys_of(MPI_Info info) {
    const auto names = gc_keys_of(info);
    if (!names) return names.status();
    InfoKeys keys;
    for (const std::string& name : *names)
        if (const auto id = option_of_key(name); id)
            keys.settings |= bit_of(*id);
        else
            add_unknown(keys, name, id.status());
    return keys;
}

/// Adds the keys that any other rank has. Collective.
Status take_of_all_ranks(MPI_Comm comm, InfoKeys& keys) {
    const std::array<std::uint64_t, 2> mine{keys.settings, keys.may_limit_loss};
    const auto all = GRADCOLL_VALUE(combined(comm, MPI_BOR, mine));
    keys.settings = all[0];
    keys.may_limit_loss = all[1];
    return {};
}

void warn_on_rank_0(const CommContext& context, std::string_view key, const std::string& why) {
    log(context.identity().rank() == 0 ? LogLevel::warn : LogLevel::debug,
        "info key {} of communicator '{}' is ignored: {}", key, context.identity().name(), why);
}

/// Adds the key to what is ignored and may limit loss. All ranks come here for the same key.
/// Collective.
Status doubt(CommContext& context, std::string_view key) {
    SettingsText proposed = context.settings().text();
    proposed.add_doubt(
        fmt::format("info key {} of communicator '{}'", key, context.identity().name()));
    return context.change_settings(proposed, {});
}

Status take_setting(CommContext& context, MPI_Info info, const OptionInfo& row) {
    SettingsText proposed = context.settings().text();
    Status complaint;
    if (const auto value = info_value(info, std::string(row.info_key)); value && *value)
        complaint = proposed.say(row.id, **value);
    else
        complaint = {Code::invalid_argument, "some ranks do not have it"};
    const Status taken = context.change_settings(proposed, complaint);
    if (taken.ok()) return {};
    warn_on_rank_0(context, row.info_key, taken.message());
    return row.limits_loss ? doubt(context, row.info_key) : Status();
}

}  // namespace

Status take_info(CommContext& context, MPI_Info info) {
    InfoKeys keys = GRADCOLL_VALUE(keys_of(info));
    for (const std::string& why : keys.unknown) warn_on_rank_0(context, "gc_*", why);
    GRADCOLL_TRY(take_of_all_ranks(context.identity().private_comm(), keys));
    for (const OptionInfo& row : option_table())
        if ((keys.settings & bit_of(row.id)) != 0) GRADCOLL_TRY(take_setting(context, info, row));
    return keys.may_limit_loss != 0 ? doubt(context, "gc_*") : Status();
}

}  // namespace gradcoll
