// base/option_table.hpp - every GC_* setting: what it is called, its default, what is allowed, and
// help. The rows are the kind option of scripts/cmake/GradcollExtensions.cmake; the project's own
// are in src/settings, a folder for each topic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// OptionId has the project's own options, in the order of the table. Those from outside follow:
/// base/outside_options.hpp.
enum class OptionId : std::uint8_t {
#define GRADCOLL_ROW(name) name,
#include "option_built_in.inc"
#undef GRADCOLL_ROW
    built_in_count
};
/// No table is longer, so that an option from outside changes no type.
inline constexpr std::size_t most_options = 64;

/// An OptionInfo is a row of the table. A member NAME of the kind option defines
///     OptionInfo NAME_option_row();
/// in this namespace, without an id. A setting that a communicator can have is also a member of the
/// kind setting (settings/setting_table.hpp), which reads its value.
///
/// An option whose variable is "GC_ENGINE=threads" is a part: the word threads in the values of
/// GC_ENGINE, its whole, as in GC_ENGINE=ring,threads=2 (base/option_parts.hpp).
struct OptionInfo {
    OptionId id{};              ///< set by the table
    OptionId whole{};           ///< set by the table; of what is no part: its own id
    std::string_view word{};    ///< set by the table: "threads"; empty if it is no part
    std::string_view variable;  ///< "GC_COMPRESS_BYTES"
    std::string_view
        info_key{};  ///< "gc_compress_bytes"; empty if it cannot be set per communicator
    std::string_view default_value;
    std::string_view allowed{};  ///< for messages and help: "bytes, with K, M or G"; empty: tables
                                 ///< of higher folders know it (allowed_of() in settings)
    std::string_view help;

    /// Checks `text`, as far as that is known down here; null if all texts are values.
    Status (*check)(const OptionInfo& row, std::string_view text) = nullptr;
    /// If this is set, the option says which sums may lose something, how much, or where: while a
    /// value of it is ignored, nobody knows what was to stay exact, so all does
    /// (OptionSet::doubt()).
    bool limits_loss = false;
    /// It does nothing while this variable has its default; empty if there is none.
    std::string_view only_with{};
    /// In a value with parts it is what stands last, commas included: a path.
    bool takes_rest = false;
    /// These words of its own text name no parts, as messages list them: "host=, switch=".
    std::string_view own_words{};
    /// People may look for it by these names, with commas and without "GC_": it is suggested then.
    std::string_view also_sought_as{};
};
constexpr bool is_part(const OptionInfo& row) {
    return !row.word.empty();
}
/// Returns the table, which stays where it is. Thread safe.
std::span<const OptionInfo> option_table();
const OptionInfo& info_of(OptionId id);
/// Returns the rows of a setting's parts, in the order of the table.
std::vector<const OptionInfo*> parts_of(OptionId whole);

/// Every variable begins with this.
inline constexpr std::string_view option_prefix = "GC_";

/// Returns the row of exactly this variable; null if there is none. A part is no variable.
const OptionInfo* find_option(std::string_view variable);

/// Returns the option that a person calls `name`: the variable or the info key, with or without the
/// prefix, in any case. Errors: invalid_argument, with the setting that is meant if one is near.
Result<OptionId> option_of_name(std::string_view name);
/// Returns what meant_option() returns for such a name.
const OptionInfo* meant_option_of_name(std::string_view name);

/// Returns the setting that somebody meant who wrote `bare_name`, which is none: one whose name
/// begins so (TOL), else the nearest one, else the longest that it begins with (TOLERANCE_ABS). A
/// part counts as if it were a setting, ENGINE_THREADS. Null if there is none. `bare_name` comes
/// without "GC_", which would make every short name look near; case does not count.
const OptionInfo* meant_option(std::string_view bare_name);
/// Returns "; did you mean GC_CODEC?", of a part "; did you mean GC_ENGINE=threads=...?", or
/// nothing for null.
std::string suggestion_of(const OptionInfo* meant);

}  // namespace gradcoll
