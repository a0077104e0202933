// examples/extend/setting/reader.cpp - the meaning of GC_PROFILE's values. It is read after the
// project's own settings, so it sees what they set, and leaves that alone.
#include "base/outside_options.hpp"
#include "settings/read_text.hpp"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

enum class Profile : std::uint8_t { standard, latency, bandwidth };

Status set_exchange(std::string_view name, Settings& out) {
    const bool is_automatic = out.exchange == std::vector<ExchangeWish>{std::nullopt};
    return is_automatic ? take(out.exchange, level_exchanges_from(name)) : Status();
}

void set_chunks(std::uint64_t bytes, Settings& out) {
    if (!out.chunk_bytes) out.chunk_bytes = bytes;
}

Status set_shared_memory(std::uint64_t bytes, Settings& out) {
    const std::uint64_t usual =
        GRADCOLL_VALUE(parse_bytes(info_of(OptionId::shm_bytes).default_value));
    if (out.shm_bytes == usual) out.shm_bytes = bytes;
    return {};
}

Status read_profile(std::string_view text, Settings& out) {
    constexpr std::string_view names[] = {"default", "latency", "bandwidth"};
    const Profile profile = GRADCOLL_VALUE(
        one_of<Profile>(text, names, info_of(id_of(OutsideOption::profile)).allowed));
    if (profile == Profile::standard) return {};
    const bool large = profile == Profile::bandwidth;
    GRADCOLL_TRY(set_exchange(large ? "ring" : "single", out));
    set_chunks(large ? std::uint64_t{1} << 20 : 0, out);
    return set_shared_memory(large ? std::uint64_t{8} << 20 : std::uint64_t{1} << 20, out);
}

}  // namespace

SettingRow profile_setting_row() {
    return {.read = read_profile};
}

}  // namespace gradcoll
