// fabric/csv/csv.cpp - reads a table with the columns
// host,switch[,gbytes_per_s[,latency_us]].
//
// A line whose first column is a switch (`switch:NAME`, or a name that is in the second column
// elsewhere) hangs that switch below another. A heading line (host,switch,...), `#` comments and
// empty lines are skipped; host columns may be host lists. The fabric is rooted.
#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>
#include <vector>

#include "fabric/formats.hpp"
#include "fabric/host_list.hpp"
#include "fabric/lines.hpp"

namespace gradcoll {
namespace {

/// Cuts at commas outside of brackets and of double quotes; quotes around a field are removed.
std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    int brackets = 0;
    bool quoted = false;
    std::size_t begin = 0;
    const auto close_field = [&](std::size_t end) {
        std::string_view field = trimmed(line.substr(begin, end - begin));
        if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
            field = trimmed(field.substr(1, field.size() - 2));
        fields.push_back(field);
        begin = end + 1;
    };
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"') quoted = !quoted;
        if (c == '[') ++brackets;
        if (c == ']') --brackets;
        if (c == ',' && !quoted && brackets <= 0) close_field(i);
    }
    close_field(line.size());
    return fields;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    std::string small(word);
    for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return std::find(words.begin(), words.end(), small) != words.end();
}

bool is_heading(const std::vector<std::string_view>& fields) {
    return fields.size() >= 2 &&
           is_one_of(fields[0], {"host", "hosts", "hostname", "node", "nodes", "name"}) &&
           is_one_of(fields[1], {"switch", "switches", "switch_name", "parent"});
}

constexpr std::string_view switch_mark = "switch:";

std::string_view without_mark(std::string_view name) {
    return name.starts_with(switch_mark) ? trimmed(name.substr(switch_mark.size())) : name;
}

class Csv {
  public:
    explicit Csv(std::string_view text) : text_(text) {}

    Result<Fabric> read() {
        builder_.fabric().rooted = true;
        note_switches();
        Lines lines(text_);
        for (bool first = true; lines.next() && builder_.within_limits(); first = false) {
            const std::vector<std::string_view> fields = fields_of(lines.line());
            if (!(first && is_heading(fields))) GRADCOLL_TRY(row(lines, fields));
        }
        return builder_.take();
    }

  private:
    /// Notes the names in second columns, which are switches, also where they are in a first
    /// column.
    void note_switches() {
        for (Lines lines(text_); lines.next();) {
            const std::vector<std::string_view> fields = fields_of(lines.line());
            if (fields.size() >= 2) switches_.insert(without_mark(fields[1]));
        }
    }

    Status row(const Lines& lines, const std::vector<std::string_view>& fields) {
        const bool right = fields.size() >= 2 && fields.size() <= 4 && !fields[0].empty() &&
                           !without_mark(fields[1]).empty();
        if (!right) return lines.error(lines.line(), "host,switch[,gbytes_per_s[,latency_us]]");
        std::array<double, 2> amounts = {0, 0};
        for (std::size_t i = 2; i < fields.size(); ++i) {
            const auto amount = fields[i].empty() ? 0.0 : amount_in(fields[i]);
            if (!amount) return lines.error(fields[i], "a finite number that is not negative");
            amounts[i - 2] = *amount;
        }
        const int above = builder_.switch_named(without_mark(fields[1]));
        if (fields[0].starts_with(switch_mark) || switches_.contains(fields[0])) {
            const std::string_view below = without_mark(fields[0]);
            if (below == without_mark(fields[1]))
                return lines.error(lines.line(), "a switch below another one than itself");
            builder_.add_cable(above, builder_.switch_named(below), amounts[0], amounts[1]);
            return {};
        }
        const auto hosts = names_of_host_list(fields[0], max_fabric_nodes);
        if (!hosts) return lines.error(fields[0], "a host list: " + hosts.status().message());
        for (const std::string& host : *hosts)
            builder_.add_cable(above, builder_.host_named(host), amounts[0], amounts[1]);
        return {};
    }

    std::string_view text_;
    FabricBuilder builder_;
    std::unordered_set<std::string_view> switches_;
};

}  // namespace

FabricFormat csv_fabric_format() {
    return {.name = "CSV",
            .family = "CSV",
            .listed = "CSV of host,switch",
            .is_line = [](std::string_view line) { return line.find(',') != line.npos; },
            .read = [](std::string_view text) { return Csv(text).read(); },
            .vague = true};
}

}  // namespace gradcoll
