#include "transport/routed/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace gradcoll {

#define GRADCOLL_ROW(name) const Transport& name##_transport();
#include "transport_table.inc"
#undef GRADCOLL_ROW

namespace {

std::vector<const Transport*> rows_in_order() {
    std::vector<const Transport*> rows = {
#define GRADCOLL_ROW(name) &name##_transport(),
#include "transport_table.inc"
#undef GRADCOLL_ROW
    };
    std::stable_partition(rows.begin(), rows.end(),
                          [](const Transport* row) { return !row->is_last_resort; });
    return rows;
}

std::string names_of(bool all) {
    std::string names;
    for (const Transport* row : transport_table())
        if (all || row->is_last_resort)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", row->name);
    return names;
}

bool is_known(std::string_view name) {
    const auto rows = transport_table();
    return std::any_of(rows.begin(), rows.end(),
                       [name](const Transport* row) { return row->name == name; });
}

}  // namespace

std::span<const Transport* const> transport_table() {
    static const std::vector<const Transport*> rows = rows_in_order();
    return rows;
}

std::string transport_names() {
    return names_of(true);
}

std::string last_resort_names() {
    return names_of(false);
}

Result<TransportChoice> TransportChoice::parse(std::string_view text) {
    TransportChoice choice;
    if (trimmed(text) == "auto") return choice;
    for (const std::string_view word : split_at_commas(text)) {
        const std::string_view name = trimmed(word);
        if (!is_known(name))
            return Status(
                Code::invalid_argument,
                fmt::format("'{}' is not allowed: auto, or one or several of {}, with commas",
                            printable(name), transport_names()));
        choice.names_.emplace_back(name);
    }
    return choice;
}

bool TransportChoice::allows(std::string_view name) const {
    return names_.empty() || std::find(names_.begin(), names_.end(), name) != names_.end();
}

std::string TransportChoice::text() const {
    return names_.empty() ? "auto" : fmt::format("{}", fmt::join(names_, ","));
}

}  // namespace gradcoll
