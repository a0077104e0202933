// settings/tree/readers.cpp - how calls go over the tree, and with how much memory.
// (GC_TUNING_FILE has no reader: a communicator has the figures of its rank 0, process_tuning.hpp.)
#include "collectives/build/builder.hpp"
#include "settings/read_text.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

Result<int> parse_chunks_in_flight(std::string_view text) {
    const auto value = parse_integer(text, 1, 16);
    if (!value) return value.status();
    return static_cast<int>(*value);
}

/// Reads the size of shared memory. The least allowed holds a page for each slot of the blocks
/// (runtime/one_host).
Result<std::uint64_t> parse_shm_bytes(std::string_view text) {
    constexpr std::uint64_t least = 128 << 10;
    constexpr std::uint64_t most = 1 << 30;
    auto bytes = parse_bytes(text);
    if (bytes && *bytes != 0 && (*bytes < least || *bytes > most))
        return Status(
            Code::invalid_argument,
            fmt::format("\"{}\" is not allowed; allowed are 0, and 128K to 1G", printable(text)));
    return bytes;
}

}  // namespace

SettingRow tree_min_bytes_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        out.tree_min_is_auto = text == "auto";
        if (out.tree_min_is_auto)
            return take(out.tree_min_bytes, Result<std::uint64_t>(usual_least_tree_bytes));
        return take(out.tree_min_bytes, parse_bytes(text));
    }};
}

SettingRow exchange_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.exchange, level_exchanges_from(without_blanks(text)));
    }};
}

SettingRow builder_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.builder, builder_from_name(text));
    }};
}

SettingRow chunk_bytes_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.chunk_bytes, parse_bytes_or("auto", text));
    }};
}

SettingRow chunks_in_flight_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.chunks_in_flight, parse_chunks_in_flight(text));
    }};
}

SettingRow inside_hosts_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        constexpr std::string_view names[] = {"memory", "messages"};
        return take(out.inside_hosts,
                    one_of<InsideHosts>(text, names, info_of(OptionId::inside_hosts).allowed));
    }};
}

SettingRow tune_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        constexpr std::string_view names[] = {"online", "cache", "off"};
        return take(out.tune, one_of<Tune>(text, names, info_of(OptionId::tune).allowed));
    }};
}

/// Reads gc_reproducible. The row comes after gc_tune, which it overrules.
SettingRow reproducible_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        out.anywhere = text == "anywhere";
        out.reproducible = out.anywhere;
        if (!out.anywhere) GRADCOLL_TRY(take(out.reproducible, parse_switch(text)));
        if (out.reproducible && !out.anywhere) out.tune = Tune::off;
        return Status();
    }};
}

SettingRow shm_bytes_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.shm_bytes, parse_shm_bytes(text));
    }};
}

SettingRow device_min_bytes_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.device_min_bytes, parse_bytes_or("auto", text));
    }};
}

SettingRow transports_setting_row() {
    return {.read = [](std::string_view text, Settings& out) {
        return take(out.transports, TransportChoice::parse(text));
    }};
}

SettingRow nic_setting_row() {
    return {.read = [](std::string_view text, Settings& out) -> Status {
        enum class Word : std::uint8_t { off, on, on_demand, on_sum, on_demand_sum };
        constexpr std::string_view names[] = {"off", "on", "auto", "on+sum", "auto+sum"};
        constexpr NicChoice choices[] = {{NicUse::off},
                                         {NicUse::on},
                                         {NicUse::on_demand},
                                         {NicUse::on, true},
                                         {NicUse::on_demand, true}};
        const Word word = GRADCOLL_VALUE(one_of<Word>(text, names, info_of(OptionId::nic).allowed));
        out.nic = choices[static_cast<std::size_t>(word)];
        return {};
    }};
}

}  // namespace gradcoll
