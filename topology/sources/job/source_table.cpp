// topology/sources/job/source_table.cpp - the table of sources, and lists of what is in it.
#include "topology/sources/job/source_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cctype>

namespace gradcoll {

#define GRADCOLL_ROW(name) SourceRow name##_source_row();
#include "source_table.inc"
#undef GRADCOLL_ROW

namespace {

template <class Text>
std::vector<std::string_view> texts_of(Part part, Text SourceRow::*text) {
    std::vector<std::string_view> texts;
    for (const SourceRow& row : source_table())
        if (row.part == part && !(row.*text).empty()) texts.push_back(row.*text);
    return texts;
}

/// Returns a list such as "a, b or c".
std::string listed(const std::vector<std::string_view>& texts, std::string_view before_last) {
    std::string list;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i > 0) list += i + 1 < texts.size() ? ", " : before_last;
        list += texts[i];
    }
    return list;
}

bool alphabetical(std::string_view a, std::string_view b) {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(),
        [](unsigned char x, unsigned char y) { return std::tolower(x) < std::tolower(y); });
}

}  // namespace

/// Returns a table that is never destroyed, since calls may come while the process exits.
const std::vector<SourceRow>& source_table() {
#define GRADCOLL_ROW(name) name##_source_row(),
    static const auto& rows = *new std::vector<SourceRow>{
#include "source_table.inc"
    };
#undef GRADCOLL_ROW
    return rows;
}

const SourceRow& source_row(Part part, std::string_view word) {
    const auto& rows = source_table();
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const SourceRow& r) {
        return r.part == part && r.word == word;
    });
    assert(row != rows.end());
    return *row;
}

const SourceRow* source_for(const PathContent& content) {
    for (const bool vague : {false, true})
        for (const SourceRow& row : source_table())
            if (row.vague == vague && row.holds && row.holds(content)) return &row;
    return nullptr;
}

std::string allowed_forms() {
    return fmt::format(
        "auto, {}, or INSIDE, BETWEEN or INSIDE+BETWEEN, where INSIDE is {}, and BETWEEN is {}",
        listed(texts_of(Part::whole, &SourceRow::forms), ", "),
        listed(texts_of(Part::inside, &SourceRow::forms), " or "),
        listed(texts_of(Part::between, &SourceRow::forms), " or "));
}

std::string allowed_contents(Part part) {
    std::vector<std::string_view> contents = texts_of(part, &SourceRow::expected);
    std::sort(contents.begin(), contents.end(), alphabetical);
    return listed(contents, " or ");
}

}  // namespace gradcoll
