// fabric/slurm/slurm_conf.cpp - reads topology.conf, and what `scontrol show topology` prints of
// it: lines of KEY=VALUE pairs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "fabric/formats.hpp"
#include "fabric/slurm/slurm.hpp"
#include "fabric/slurm/slurm_fabric.hpp"

namespace gradcoll {

namespace {

struct Pair {
    std::string_view key, value;
};

/// Returns the line without its comment and the spaces around it.
std::string_view without_comment(std::string_view line) {
    return trimmed(line.substr(0, line.find('#')));
}

/// LogicalLines joins a line that ends in a backslash with the next one; a backslash in a comment
/// does not count.
class LogicalLines {
  public:
    explicit LogicalLines(std::string_view text) : text_(text) {}

    /// Advances to the next line that is not empty; returns false at the end.
    bool next() {
        for (line_.clear(); line_.empty() && !text_.empty();) {
            number_ = next_number_;
            while (append_one()) {
            }
        }
        return !line_.empty();
    }
    std::string_view line() const { return line_; }
    int number() const { return number_; }  ///< number of its first line in the text, from 1

  private:
    /// Returns whether the logical line goes on.
    bool append_one() {
        if (text_.empty()) return false;
        const std::size_t end = text_.find('\n');
        std::string_view line = without_comment(text_.substr(0, end));
        text_.remove_prefix(end == text_.npos ? text_.size() : end + 1);
        ++next_number_;
        const bool goes_on = line.ends_with('\\');
        if (goes_on) line.remove_suffix(1);
        line_ += line;
        return goes_on;
    }

    std::string_view text_;
    std::string line_;
    int number_ = 0;
    int next_number_ = 1;
};

/// Reads key, blanks, "=", blanks, value (quoted, or up to the next blank). Errors: what was found.
Result<Pair> next_pair(std::string_view& line) {
    constexpr std::string_view blanks = " \t\r";
    const auto is_key = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    const auto key_end = std::find_if_not(line.begin(), line.end(), is_key);
    const std::string_view key = line.substr(0, static_cast<std::size_t>(key_end - line.begin()));
    std::string_view rest = trimmed(line.substr(key.size()));
    if (key.empty() || !rest.starts_with('='))
        return Status(Code::invalid_argument,
                      fmt::format("found \"{}\", expected KEY=VALUE", printable(line)));
    rest = trimmed(rest.substr(1));
    const bool quoted = rest.starts_with('"');
    if (quoted) rest.remove_prefix(1);
    const std::size_t end = quoted ? rest.find('"') : rest.find_first_of(blanks);
    if (quoted && end == rest.npos)
        return Status(Code::invalid_argument, "a quotation mark is not closed");
    const Pair pair{key, rest.substr(0, end)};
    line = end == rest.npos ? std::string_view() : trimmed(rest.substr(end + 1));
    return pair;
}

using Keys = std::array<std::string_view, 3>;

/// A Form is a kind of line, by its first key.
struct Form {
    std::string_view key;
    Keys further;           ///< that may follow
    Keys printed;           ///< that `scontrol show topology` prints, too
    bool is_switch;         ///< or block, ring, torus: what holds hosts
    std::string_view note;  ///< is said of such lines once
};

constexpr std::array forms{
    Form{"SwitchName", {"Switches", "Nodes", "LinkSpeed"}, {"Level"}, true, ""},
    Form{"BlockName", {"Nodes"}, {"BlockIndex", "BlockSize"}, true, ""},
    Form{"RingName", {"Nodes"}, {"RingSize"}, true, "a ring is taken as one switch"},
    Form{"TorusName",
         {"Nodes"},
         {"Dims", "PlacementDims", "Anchors"},
         true,
         "a torus is taken as one switch"},
    Form{"BlockSizes",
         {},
         {},
         false,
         "BlockSizes are sizes to plan jobs with, and no switches: not used"},
    Form{"AggregatedBlock",
         {},
         {"Nodes", "BlockIndex", "BlockSize"},
         false,
         "aggregated blocks are sizes to plan jobs with, and no switches: not used"},
};

const Form* form_of(std::string_view key) {
    const auto found = std::find_if(forms.begin(), forms.end(), [&](const Form& form) {
        return equal_ignoring_case(form.key, key);
    });
    return found == forms.end() ? nullptr : &*found;
}

bool holds(const Keys& keys, std::string_view key) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](std::string_view one) { return equal_ignoring_case(one, key); });
}

/// Returns "Switches, Nodes or LinkSpeed".
std::string in_words(const Keys& keys) {
    const auto end = std::find(keys.begin(), keys.end(), std::string_view());
    if (end == keys.begin()) return "the end of the line";
    std::string words(keys.front());
    for (auto key = keys.begin() + 1; key != end; ++key)
        words += fmt::format("{}{}", key + 1 == end ? " or " : ", ", *key);
    return words;
}

class ConfReader {
  public:
    Result<Fabric> read(std::string_view text) {
        LogicalLines lines(text);
        while (lines.next())
            if (const Status status = line(lines.line(), lines.number()); !status.ok())
                return Status(status.code(), "topology.conf: " + status.message());
        Result<Fabric> fabric = fabric_.take();
        if (fabric.ok()) return fabric;
        return Status(fabric.status().code(), "topology.conf: " + fabric.status().message());
    }

  private:
    struct Line {
        const Form* form = nullptr;
        bool is_switch = false;
        bool is_printed = false;  ///< `scontrol show topology` printed it
        std::string_view link_speed;
        SlurmSwitch entry;
    };

    static Status wrong(int number, const std::string& what) {
        return {Code::invalid_argument, fmt::format("line {}: {}", number, what)};
    }

    Status line(std::string_view text, int number) {
        Line line;
        while (!text.empty()) {
            Result<Pair> pair = next_pair(text);
            if (!pair.ok()) return wrong(number, pair.status().message());
            const Status status = line.form ? go_on(*pair, line) : begin(*pair, line);
            if (!status.ok()) return wrong(number, status.message());
        }
        return line.is_switch ? fabric_.add(finished(line), number) : Status();
    }

    /// Reads the first pair, which says what the line is about.
    Status begin(const Pair& pair, Line& line) {
        line.form = form_of(pair.key);
        if (!line.form)
            return {Code::invalid_argument,
                    fmt::format("found {}, expected SwitchName, BlockName, BlockSizes or RingName",
                                printable(pair.key))};
        line.is_switch = line.form->is_switch;
        line.entry.name = pair.value;
        if (!line.form->note.empty()) fabric_.note(std::string(line.form->note));
        return {};
    }

    /// Reads a further pair, which describes it.
    Status go_on(const Pair& pair, Line& line) {
        const bool is_of_files = holds(line.form->further, pair.key);
        if (!is_of_files && !holds(line.form->printed, pair.key))
            return {Code::invalid_argument,
                    fmt::format("found {} after {}, expected {}", printable(pair.key),
                                line.form->key, in_words(line.form->further))};
        line.is_printed |= !is_of_files;
        // Such a line follows that of its torus.
        if (equal_ignoring_case(pair.key, "PlacementDims")) line.is_switch = false;
        if (equal_ignoring_case(pair.key, "Nodes")) return once(line.entry.nodes, pair);
        if (equal_ignoring_case(pair.key, "Switches")) return once(line.entry.switches, pair);
        if (equal_ignoring_case(pair.key, "LinkSpeed")) line.link_speed = pair.value;
        return {};
    }

    /// Returns the entry as a file would have it. `scontrol show topology` prints LinkSpeed=1 where
    /// a file states none, and all hosts below an upper switch as its Nodes.
    SlurmSwitch finished(Line& line) {
        if (line.is_printed && !line.entry.switches.empty()) line.entry.nodes = {};
        if (!line.link_speed.empty() && !(line.is_printed && line.link_speed == "1"))
            line.entry.gbytes_per_s = link_speed(line.link_speed);
        return line.entry;
    }

    static Status once(std::string_view& list, const Pair& pair) {
        if (!list.empty())
            return {Code::invalid_argument, fmt::format("{} is there twice", pair.key)};
        list = pair.value;
        return {};
    }

    double link_speed(std::string_view text) {
        const std::optional<double> speed = gbytes_per_s_of_link_speed(text);
        fabric_.note(
            "SLURM leaves the unit of LinkSpeed open: numbers alone are taken as Gbit/s of each "
            "link below the switch");
        if (!speed && !std::exchange(speed_not_read_, true))
            fabric_.note(
                fmt::format("LinkSpeed={} is left out: expected a number up to 1600, or "
                            "one with a unit such as 100Gb/s or 12.5GB/s",
                            printable(text)));
        return speed.value_or(0);
    }

    SlurmFabric fabric_;
    bool speed_not_read_ = false;
};

bool is_slurm_conf(std::string_view line) {
    const Result<Pair> first = next_pair(line);
    return first.ok() && form_of(first->key);
}

}  // namespace

Result<Fabric> fabric_from_slurm_conf(std::string_view text) {
    return ConfReader().read(text);
}

FabricFormat slurm_conf_fabric_format() {
    return {.name = "topology.conf",
            .family = "SLURM",
            .listed = "SLURM's topology.conf or topology.yaml",
            .is_line = is_slurm_conf,
            .read = fabric_from_slurm_conf};
}

}  // namespace gradcoll
