// base/options.hpp - every GC_* setting: one table with name, kind, default, what is allowed, and
// help. The environment is read once per process; options.cpp is the only file that looks at it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

enum class OptionSource : std::uint8_t { default_value, environment, info_key, argument };

/// The value of every option in one environment, given as "NAME=value" entries (of a name given
/// twice the first counts, as in getenv). A variable that is set to nothing counts as not set.
/// Immutable, so thread safe.
class OptionSet {
  public:
    explicit OptionSet(std::span<const std::string_view> environment);

    const std::string& text(OptionId id) const {
        return values_[static_cast<std::size_t>(id)].text;
    }
    OptionSource source(OptionId id) const { return values_[static_cast<std::size_t>(id)].source; }

    /// One sentence for every GC_* variable that is no option, with the nearest known name if one
    /// is near. GC_TEST_* belongs to the tests and is never mentioned.
    const std::vector<std::string>& complaints() const { return complaints_; }

  private:
    struct Value {
        std::string text;
        OptionSource source = OptionSource::default_value;
    };
    void take(std::string_view name, std::string_view text);

    std::array<Value, static_cast<std::size_t>(OptionId::count)> values_;
    std::vector<std::string> complaints_;
};

/// The text of an option: environment, else default. Read once per process (at the first call,
/// whichever thread makes it); thread safe.
const std::string& option_text(OptionId id);
OptionSource option_source(OptionId id);

/// Warns (once per process) about every GC_* variable that is not in the table, with the nearest
/// known name.
void warn_about_unknown_variables();

/// Text from outside made fit for a message: cut after 80 bytes, unprintable bytes become '?'.
std::string printable(std::string_view text);

/// invalid_argument: "GC_CPU=fast is not allowed: best, scalar, avx2, avx512". `name` is what the
/// user wrote the value to (a variable, an info key, an argument). Long values are cut, unprintable
/// bytes become '?'.
Status bad_value(std::string_view name, std::string_view value, std::string_view allowed);

/// The parsers below read the whole text or fail with invalid_argument, naming the text and what is
/// allowed. "4096", "64K", "64KiB", "1M", "1g" -> bytes (K, M, G and KiB, MiB, GiB are powers of
/// 1024, in any case).
Result<std::uint64_t> parse_bytes(std::string_view text);
/// Decimal, min <= value <= max.
Result<std::int64_t> parse_integer(std::string_view text, std::int64_t min, std::int64_t max);
/// 0/1, on/off, yes/no, true/false, in any case.
Result<bool> parse_switch(std::string_view text);

/// The known word nearest to `word` (fewest letters inserted, dropped, replaced or swapped; case
/// does not count), if it is near enough to be what was meant: at most a third of the letters, at
/// least one. Ties: the first.
std::optional<std::string_view> nearest_word(std::string_view word,
                                             std::span<const std::string_view> known);

}  // namespace gradcoll
