// settings/setting_table.hpp - what the values of settings mean for a communicator: the kind
// setting of scripts/cmake/GradcollExtensions.cmake, a row for each setting that has such a
// meaning.
#pragma once

#include <string>
#include <string_view>

#include "base/option_table.hpp"
#include "base/status.hpp"

namespace gradcoll {

struct Settings;

/// SettingRow is what a member NAME of the kind setting, and of the kind option with the same name,
/// defines by
///     SettingRow NAME_setting_row();
/// in this namespace.
struct SettingRow {
    /// Puts what the text says into the settings. It is called for every communicator, in the order
    /// of the table, so that a row sees what those before it said. It is null if nothing of the
    /// text goes there. Errors: invalid_argument saying what is allowed.
    Status (*read)(std::string_view text, Settings& out) = nullptr;
    /// Checks the text if read() is null. If both are null every text is a value.
    Status (*check)(std::string_view text) = nullptr;
    /// Returns what is allowed, for messages and help, if the option's row does not say it.
    std::string (*allowed)() = nullptr;
    bool shapes_calls = true;  ///< an explanation of a call names it where somebody chose it
};

/// Returns the row of a setting, an empty one for settings that are options only. Thread safe; the
/// row stays where it is.
const SettingRow& setting_of(OptionId id);

/// Returns what users may write, for messages and help. Of a setting with parts it is what may
/// stand before them.
std::string allowed_of(OptionId id);

/// Returns what pages and gradcoll info say of a setting with its parts.
std::string allowed_with_parts(OptionId whole);
std::string help_with_parts(OptionId whole);

}  // namespace gradcoll
