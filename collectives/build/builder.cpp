// collectives/build/builder.cpp - the table of the builders.
#include "collectives/build/builder.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "base/text.hpp"

namespace gradcoll {

#define GRADCOLL_ROW(name) const BuilderRow& name##_builder();
#include "builder_table.inc"
#undef GRADCOLL_ROW

namespace {

std::vector<const BuilderRow*> checked(std::vector<const BuilderRow*> rows) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (rows[i]->number == rows[j]->number || rows[i]->name == rows[j]->name)
                throw std::logic_error(fmt::format("builders {} ({}) and {} ({}) are not two",
                                                   rows[j]->name, static_cast<int>(rows[j]->number),
                                                   rows[i]->name,
                                                   static_cast<int>(rows[i]->number)));
    return rows;
}

}  // namespace

std::span<const BuilderRow* const> builder_table() {
    static const std::vector<const BuilderRow*> rows = checked({
#define GRADCOLL_ROW(name) &name##_builder(),
#include "builder_table.inc"
#undef GRADCOLL_ROW
    });
    return rows;
}

const BuilderRow* find_builder(Builder builder) {
    for (const BuilderRow* row : builder_table())
        if (row->number == builder) return row;
    return nullptr;
}

std::string_view name_of(Builder builder) {
    const BuilderRow* row = find_builder(builder);
    return row != nullptr ? row->name : "unknown";
}

Result<Builder> builder_from_name(std::string_view name) {
    std::string names;
    for (const BuilderRow* row : builder_table()) {
        if (row->name == name) return row->number;
        names.append(names.empty() ? "" : ", ").append(row->name);
    }
    return Status(Code::invalid_argument,
                  fmt::format("builder \"{}\" is unknown; allowed: {}", printable(name), names));
}

}  // namespace gradcoll
