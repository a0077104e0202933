#include "api/comm/comm_settings.hpp"

#include "api/settings/setting_table.hpp"
#include "collectives/choose/least_bytes.hpp"

namespace gradcoll {
namespace {

/// Whatever goes into Settings must be the same everywhere, also if communicators cannot have it
/// each their own way.
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

}  // namespace

Result<Settings> CommSettings::agree(const SettingsText& proposed, const Status& complaint,
                                     const std::vector<Claim>& also) const {
    std::vector<Claim> claims = claims_of(proposed, complaint);
    claims.insert(claims.begin(), also.begin(), also.end());
    GRADCOLL_TRY(agree_on(comm_, claims));
    if (!complaint.ok()) return complaint;
    auto settings = Settings::parse(proposed);
    if (settings) settings->tuning = tuning_;
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
