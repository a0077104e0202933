#include "attach/presence_answer.hpp"

#include <fmt/format.h>

#include "base/hash.hpp"
#include "gradcoll/base.h"
#include "settings/setting_table.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

constexpr std::string_view enable_name = "GC_ENABLE";
constexpr std::string_view version_name = "the version of the library";
/// It stands between the name of a claim, which may have a '=', and its text.
constexpr std::string_view text_mark = ": ";

/// Returns whether ranks must have the option alike: the settings that communicators can have, and
/// a few more.
bool decides_where_calls_go(const OptionInfo& row) {
    return !row.info_key.empty() || setting_of(row.id).read != nullptr ||
           row.id == OptionId::intercept;
}

std::string_view public_name_of(const OptionInfo& row) {
    return row.info_key.empty() ? row.variable : row.info_key;
}

/// Returns the text of a claim that a rank does not name.
std::string default_of_claim(std::string_view name) {
    if (name == enable_name) return "on";
    for (const OptionInfo& row : option_table())
        if (public_name_of(row) == name) return std::string(row.default_value);
    return "";
}

struct ClaimPart {
    std::string_view name;
    std::string_view text;
};

std::vector<ClaimPart> claim_parts_of(std::string_view text) {
    std::vector<ClaimPart> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        const std::size_t end_of_name = std::min(line.find(text_mark), line.size());
        parts.push_back({line.substr(0, end_of_name),
                         line.substr(std::min(end_of_name + text_mark.size(), line.size()))});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

std::string text_among(const std::vector<ClaimPart>& parts, std::string_view name) {
    for (const ClaimPart& part : parts)
        if (part.name == name) return std::string(part.text);
    return default_of_claim(name);
}

}  // namespace

PresenceAnswer presence_answer(bool enabled) {
    PresenceAnswer answer;
    const auto add = [&](std::string_view name, std::string text) {
        if (text != default_of_claim(name))
            answer.text += fmt::format("{}{}{}\n", name, text_mark, text);
        answer.claims.push_back({name, std::move(text)});
    };
    add(version_name,
        fmt::format("{}.{}.{}", GC_VERSION_MAJOR, GC_VERSION_MINOR, GC_VERSION_PATCH));
    add(enable_name, enabled ? "on" : "off");
    const SettingsText settings = SettingsText::from_environment();
    // A library that is off does nothing that its other settings could change.
    for (const OptionInfo& row : option_table())
        if (decides_where_calls_go(row) && enabled) add(public_name_of(row), settings[row.id]);
    Hash hash;
    for (const Claim& claim : answer.claims) hash.text(claim.name).text(claim.text);
    answer.hash = hash.digest();
    return answer;
}

std::string difference_of(int rank, std::string_view text, int other_rank,
                          std::string_view other_text) {
    const std::vector<ClaimPart> parts = claim_parts_of(text);
    const std::vector<ClaimPart> other_parts = claim_parts_of(other_text);
    for (const auto& named : {parts, other_parts})
        for (const ClaimPart& part : named) {
            const std::string here = text_among(parts, part.name);
            const std::string there = text_among(other_parts, part.name);
            if (here != there)
                return fmt::format(
                    "{} must be the same on all ranks: rank {} has '{}', rank {} has '{}'",
                    part.name, rank, here, other_rank, there);
        }
    return fmt::format("the settings of ranks {} and {} differ", rank, other_rank);
}

}  // namespace gradcoll
