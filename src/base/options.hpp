// base/options.hpp - every GC_* setting: one table with name, kind, default, what is allowed, and
// help; and the values that this process got: of the environment, else of the file that
// GC_CONFIG_FILE names, else the default. Both are read once per process; options.cpp is the only
// file that looks at the environment.
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

/// The option that a person calls `name`: the variable or the info key, with or without the prefix,
/// in any case. Errors: invalid_argument, with the nearest known variable if one is near.
Result<OptionId> option_of_name(std::string_view name);

/// From the weakest to the strongest.
enum class OptionSource : std::uint8_t {
    default_value,
    config_file,
    environment,
    info_key,
    argument
};
std::string_view name_of(OptionSource source);

struct OptionValue {
    std::string text;
    OptionSource source = OptionSource::default_value;
    std::string place = "default";  ///< for people: "environment", "run.conf:3", "default"
};

/// Of these settings, which all say the codec, those that a stronger source says put out those of a
/// weaker one; within one source gc_schedule is stronger than gc_level_codecs, that than gc_codec.
inline constexpr OptionId codec_options[] = {OptionId::codec, OptionId::level_codecs,
                                             OptionId::schedule};

/// Something that is ignored, and where it was written; `option`: whose value it is, if any.
struct OptionComplaint {
    std::string text;
    std::optional<OptionId> option;
};

struct ConfigFile;  // base/config_file.hpp

/// The value of every option, given an environment of "NAME=value" entries (of a name given twice
/// the first counts, as in getenv) and a file. Blanks around values do not count; what is set to
/// nothing counts as not set. Nothing in it can fail: what is wrong becomes a complaint.
class OptionSet {
  public:
    explicit OptionSet(std::span<const std::string_view> environment);
    OptionSet(std::span<const std::string_view> environment, const ConfigFile& file);

    /// Whether a text is a value of the option; the message says what is allowed.
    using Check = Status (*)(OptionId id, std::string_view text);
    /// Leaves out every value that `check` refuses, with a complaint: the next weaker one holds.
    void leave_out_what_fails(Check check);

    const OptionValue& operator[](OptionId id) const { return values_[index(id)]; }
    const std::string& text(OptionId id) const { return values_[index(id)].text; }
    OptionSource source(OptionId id) const { return values_[index(id)].source; }
    const std::string& place(OptionId id) const { return values_[index(id)].place; }

    /// One sentence for every GC_* variable that is no option (with the nearest known name if one
    /// is near; GC_TEST_* belongs to the tests and is never mentioned), every complaint of the
    /// file, every value that was left out. Printable.
    const std::vector<OptionComplaint>& complaints() const { return complaints_; }

  private:
    static std::size_t index(OptionId id) { return static_cast<std::size_t>(id); }
    void take_variable(std::string_view name, std::string_view text);
    void settle();

    static constexpr std::size_t options = static_cast<std::size_t>(OptionId::count);
    using Layer = std::array<std::optional<OptionValue>, options>;
    Layer environment_, file_;
    std::array<OptionValue, options> values_;  ///< what holds
    std::vector<OptionComplaint> complaints_;
};

/// Whether `text` is a value of an option that holds for the whole process and is understood down
/// here (GC_LOG, GC_CPU, GC_YIELD, GC_ENABLE, GC_REPORT, ...). All others pass.
Status check_process_option(OptionId id, std::string_view text);

/// The values of this process, read at the first call, whichever thread makes it; those that
/// check_process_option knows are allowed. Values that only src/api understands may still be
/// broken: see checked_options(). Thread safe.
const OptionSet& options_of_process();
const std::string& option_text(OptionId id);
OptionSource option_source(OptionId id);

/// Logs the complaints of `set` (about one option, or all) that this process has not yet logged.
void warn_about_options(const OptionSet& set, std::optional<OptionId> only = std::nullopt);
/// Those about GC_LOG itself: marks them as logged and returns them.
std::vector<std::string> unlogged_complaints(const OptionSet& set, std::optional<OptionId> only);

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
