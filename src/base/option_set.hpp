// base/option_set.hpp - the value of every setting, out of layers: the environment, else the file
// of settings, else the default.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_file.hpp"
#include "base/option_table.hpp"

namespace gradcoll {

/// The sources are ordered from the weakest to the strongest.
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
    std::string place = "default";  ///< text for people: "environment", "run.conf:3", "default"
};

/// OptionComplaint is something that is ignored, and where it was written; `option` is the one
/// whose value it is, if any.
struct OptionComplaint {
    std::string text;
    std::optional<OptionId> option;
};

/// An OptionSet has the value of every option, given an environment of "NAME=value" entries (the
/// first counts of a name given twice, as in getenv) and a file. Blanks around values do not count;
/// what is set to nothing counts as not set. Nothing in it can fail: what is wrong becomes a
/// complaint.
class OptionSet {
  public:
    explicit OptionSet(std::span<const std::string_view> environment);
    OptionSet(std::span<const std::string_view> environment, const ConfigFile& file);

    /// A Check returns ok if a text is a value of the option; else the message says what is
    /// allowed.
    using Check = std::function<Status(OptionId id, std::string_view text)>;
    /// Leaves out every value that `check` refuses, with a complaint: the next weaker one holds.
    void leave_out_what_fails(const Check& check);
    /// Adds a complaint about every value that does nothing, because another setting has its
    /// default (OptionInfo::only_with).
    void tell_what_does_nothing();

    /// Returns all defaults, with one complaint if there was another value: that values are ignored
    /// because of `reason`.
    OptionSet without_values(std::string_view reason) const;

    const OptionValue& operator[](OptionId id) const { return values_[index(id)]; }
    const std::string& text(OptionId id) const { return values_[index(id)].text; }
    OptionSource source(OptionId id) const { return values_[index(id)].source; }
    const std::string& place(OptionId id) const { return values_[index(id)].place; }

    /// Returns the value of a setting with its parts, as a user would write it; its source is the
    /// strongest of theirs, its place names those of all that are not defaults.
    OptionValue with_parts(OptionId whole) const;

    /// Returns one sentence for every GC_* variable that is no option (with the nearest known name
    /// if one is near; GC_TEST_* belongs to the tests, and GC_MARKERS and its kin to a garbage
    /// collector: they are never mentioned), every complaint of the file, every value that was left
    /// out. Printable.
    const std::vector<OptionComplaint>& complaints() const { return complaints_; }

    /// Names what is ignored and may limit what sums lose, with its place: "GC_TOLERANCE
    /// (environment)". It is empty if there is nothing. While there is something, no sum may lose
    /// anything. A value of the file that a variable replaces does not count. Printable.
    const std::string& doubt() const { return doubt_; }

  private:
    using Layer = std::array<std::optional<OptionValue>, most_options>;

    static std::size_t index(OptionId id) { return static_cast<std::size_t>(id); }
    void take_variable(std::string_view name, std::string_view text);
    bool environment_says(OptionId whole) const;
    void settle();
    void add_doubt(std::string_view name, std::string_view place);

    Layer environment_, file_;
    std::array<OptionValue, most_options> values_;  ///< the values that hold
    std::vector<OptionComplaint> complaints_;
    std::string doubt_;
};

}  // namespace gradcoll
