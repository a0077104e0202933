#include "comm/comm_settings.hpp"

#include <fmt/format.h>

#include <mutex>
#include <set>

#include "base/log.hpp"
#include "collectives/choose/short_vectors.hpp"
#include "comm/unused_codec.hpp"
#include "settings/setting_table.hpp"

namespace gradcoll {
namespace {

/// Returns the claims that ranks compare. Whatever goes into Settings must be the same everywhere,
/// also if communicators cannot have it each their own way.
std::vector<Claim> claims_of(const SettingsText& text, const Status& complaint) {
    std::vector<Claim> claims;
    for (const OptionInfo& row : option_table())
        if (!row.info_key.empty()) claims.push_back({row.info_key, text[row.id]});
    for (const OptionInfo& row : option_table())
        if (row.info_key.empty() && setting_of(row.id).read != nullptr)
            claims.push_back({row.variable, text[row.id]});
    claims.push_back({"the outcome of the argument check", complaint.message()});
    return claims;
}

/// Returns the complaints about the options of the process. Ranks that differ in these alone use
/// the same values all the same.
std::string all_complaints() {
    std::string all;
    for (const OptionComplaint& complaint : checked_options().complaints())
        all += fmt::format("{}{}", all.empty() ? "" : "; ", complaint.text);
    return all;
}

}  // namespace

/// Tells a line once in every process, whatever the communicator.
void CommSettings::tell_once(const std::string& line) const {
    static std::mutex& mutex = *new std::mutex;
    static std::set<std::string>& told = *new std::set<std::string>;
    const std::scoped_lock lock(mutex);
    if (told.insert(line).second) log(speaks_ ? LogLevel::warn : LogLevel::debug, "{}", line);
}

Result<Settings> CommSettings::agree(const SettingsText& proposed, const Status& complaint,
                                     const std::vector<Claim>& also) const {
    std::vector<Claim> claims = claims_of(proposed, complaint);
    claims.insert(claims.begin(), also.begin(), also.end());
    // Ranks may differ in these two, which come last: what is before is then alike.
    const std::size_t doubt = claims.size();
    claims.push_back({"what is ignored and may limit loss", proposed.doubt()});
    claims.push_back({"what is ignored of the settings", all_complaints()});
    const auto difference = GRADCOLL_VALUE(difference_in(comm_, claims));
    if (difference && difference->claim < doubt)
        return Status(Code::invalid_argument, difference->message);
    if (!complaint.ok()) return complaint;
    auto settings = Settings::parse(proposed);
    if (!settings) return settings;
    settings->tuning = tuning_;
    const bool ranks_differ_in_doubt = difference && difference->claim == doubt;
    std::string line = difference ? difference->message : std::string();
    if (ranks_differ_in_doubt || !proposed.doubt().empty()) {
        if (settings->ever_lossy()) {
            codec_is_excused();
            line = "sums stay exact, because what is ignored may limit what they lose: " +
                   (ranks_differ_in_doubt ? line : proposed.doubt());
        }
        settings->stay_exact();
    }
    if (!line.empty()) tell_once(line);
    return settings;
}

void CommSettings::take(const SettingsText& text, Settings settings) {
    text_ = text;
    current_ = std::move(settings);
}

void CommSettings::suit(const Tree* tree) {
    if (!current_.tree_min_is_auto) return;
    current_.tree_min_bytes =
        tree != nullptr ? least_tree_bytes_on(*tree) : slow_links_least_tree_bytes;
}

Status CommSettings::check_alike(const std::vector<Claim>& claims) const {
    return checks_calls() ? agree_on(comm_, claims) : Status();
}

}  // namespace gradcoll
