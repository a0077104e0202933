// base/option_table.hpp - every GC_* setting: one table (options.def) with name, kind, default,
// what is allowed, and help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace gradcoll {

enum class OptionId : std::uint8_t {
#define GRADCOLL_OPTION(id, ...) id,
#include "base/options.def"
#undef GRADCOLL_OPTION
    count
};

struct OptionInfo {
    OptionId id;
    std::string_view variable;  ///< "GC_MIN_BYTES"
    std::string_view info_key;  ///< "gc_min_bytes"; empty if it cannot be set per communicator
    std::string_view default_value;
    std::string_view allowed;  ///< for messages and help: "bytes, with K, M or G"
    std::string_view help;
};
std::span<const OptionInfo> option_table();
const OptionInfo& info_of(OptionId id);

/// What every variable begins with.
inline constexpr std::string_view option_prefix = "GC_";

/// The row of exactly this variable; null if there is none.
const OptionInfo* find_option(std::string_view variable);

/// The option that a person calls `name`: the variable or the info key, with or without the prefix,
/// in any case. Errors: invalid_argument, with the nearest known variable if one is near.
Result<OptionId> option_of_name(std::string_view name);

/// "; did you mean GC_CODEC?", or nothing if no setting is near. `bare_name`: without "GC_", which
/// would make every short name look near.
std::string suggested_option(std::string_view bare_name);

}  // namespace gradcoll
