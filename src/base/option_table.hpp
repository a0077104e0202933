// base/option_table.hpp - every GC_* setting: what it is called, its default, what is allowed, and
// help. The rows are the kind option of scripts/cmake/GradcollExtensions.cmake; the project's own
// are in src/settings, a folder for each topic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace gradcoll {

/// The project's own, in the order of the table. Those from outside follow:
/// base/outside_options.hpp.
enum class OptionId : std::uint8_t {
#define GRADCOLL_ROW(name) name,
#include "option_built_in.inc"
#undef GRADCOLL_ROW
    built_in_count
};
/// No table is longer, so that an option from outside changes no type.
inline constexpr std::size_t most_options = 64;

/// Of the settings that all say the codec, those that a stronger source says put out those of a
/// weaker one; within one source gc_schedule is stronger than gc_level_codecs, that than gc_codec.
enum class Says : std::uint8_t { its_own, the_codec };

/// A member NAME of the kind option defines
///     OptionInfo NAME_option_row();
/// in this namespace, without an id. A setting that a communicator can have is also a member of the
/// kind setting (settings/setting_table.hpp), which reads its value.
struct OptionInfo {
    OptionId id{};                ///< the table's work
    std::string_view variable;    ///< "GC_MIN_BYTES"
    std::string_view info_key{};  ///< "gc_min_bytes"; empty if it cannot be set per communicator
    std::string_view default_value;
    std::string_view allowed{};  ///< for messages and help: "bytes, with K, M or G"; empty: tables
                                 ///< of higher folders know it (allowed_of() in settings)
    std::string_view help;

    /// Whether `text` is a value, as far as that is known down here; null: all are.
    Status (*check)(const OptionInfo& row, std::string_view text) = nullptr;
    Says says = Says::its_own;
    /// It says which sums may lose something, how much, or where: while a value of it is ignored,
    /// nobody knows what was to stay exact, so all does (OptionSet::doubt()).
    bool limits_loss = false;
    /// The variable without which it does nothing; empty: there is none.
    std::string_view only_with{};
};
/// Thread safe; stays where it is.
std::span<const OptionInfo> option_table();
const OptionInfo& info_of(OptionId id);

/// What every variable begins with.
inline constexpr std::string_view option_prefix = "GC_";

/// The row of exactly this variable; null if there is none.
const OptionInfo* find_option(std::string_view variable);

/// The option that a person calls `name`: the variable or the info key, with or without the prefix,
/// in any case. Errors: invalid_argument, with the setting that is meant if one is near.
Result<OptionId> option_of_name(std::string_view name);
/// What meant_option() says of such a name.
const OptionInfo* meant_option_of_name(std::string_view name);

/// The setting that somebody meant who wrote `bare_name`, which is none: one whose name begins so
/// (TOL), else the nearest one, else one that it begins with (TOLERANCE_ABS). Null if there is
/// none. `bare_name`: without "GC_", which would make every short name look near; case does not
/// count.
const OptionInfo* meant_option(std::string_view bare_name);
/// "; did you mean GC_CODEC?", or nothing for null.
std::string suggestion_of(const OptionInfo* meant);

}  // namespace gradcoll
