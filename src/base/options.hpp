// base/options.hpp - every GC_* setting: one table with name, kind, default, what is allowed, and help.
// Reads the environment once; the only file that calls getenv.
#pragma once

#include <cstdint>
#include <optional>
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
    std::string_view variable;       ///< "GC_MIN_BYTES"
    std::string_view info_key;       ///< "gc_min_bytes"; empty if it cannot be set per communicator
    std::string_view default_value;
    std::string_view allowed;        ///< for messages and help: "bytes, with K, M or G"
    std::string_view help;
};
std::span<const OptionInfo> option_table();
const OptionInfo& info_of(OptionId id);

enum class OptionSource : std::uint8_t { default_value, environment, info_key, argument };

/// The text of an option: environment, else default. Read once per process, thread safe afterwards.
const std::string& option_text(OptionId id);
OptionSource option_source(OptionId id);

/// Warns (once per process) about every GC_* variable that is not in the table, with the nearest known name.
void warn_about_unknown_variables();

/// "64K", "1MiB", "4096" -> bytes. Errors: invalid_argument naming the text and what is allowed.
Result<std::uint64_t> parse_bytes(std::string_view text);
Result<std::int64_t> parse_integer(std::string_view text, std::int64_t min, std::int64_t max);
Result<bool> parse_switch(std::string_view text);  // 0/1, on/off, yes/no, true/false

/// The known word nearest to `word` (edit distance), if one is near enough to be what was meant.
std::optional<std::string_view> nearest_word(std::string_view word, std::span<const std::string_view> known);

}  // namespace gradcoll
