// topology/sources/job/written.cpp - finds the sources that the text names, and those that read the
// paths behind `file:`.
#include "topology/sources/job/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace gradcoll {

namespace {

/// WordAndValue splits "word" or "word:value".
struct WordAndValue {
    std::string_view word;
    bool has_value = false;
    std::string_view value;

    explicit WordAndValue(std::string_view text) {
        const std::size_t colon = text.find(':');
        word = trimmed(text.substr(0, colon));
        has_value = colon != text.npos;
        if (has_value) value = trimmed(text.substr(colon + 1));
    }
};

/// Returns the row whose word the text begins with; null if there is none.
const SourceRow* find_row(Part part, const WordAndValue& text) {
    const auto& table = source_table();
    const auto row = std::find_if(table.begin(), table.end(), [&](const SourceRow& r) {
        return r.part == part && r.takes != Takes::no_word && r.word == text.word;
    });
    return row == table.end() ? nullptr : &*row;
}

Status wrong_written(std::string_view written, const std::string& what) {
    return {Code::invalid_argument, fmt::format("GC_TOPOLOGY {}: {}", printable(written), what)};
}

Status check_value(std::string_view written, const WordAndValue& text, Takes takes) {
    const bool may_be_alone = takes == Takes::nothing || takes == Takes::perhaps_a_file;
    if (text.has_value && text.value.empty())
        return wrong_written(written, "nothing follows the colon");
    if (text.has_value && takes == Takes::nothing)
        return wrong_written(written, fmt::format("{} takes nothing after it", text.word));
    if (!text.has_value && !may_be_alone)
        return wrong_written(written, fmt::format("{0} needs a value: {0}:{1}", text.word,
                                                  takes == Takes::a_string ? "STRING" : "FILE"));
    return {};
}

/// Returns the first + that a BETWEEN word follows.
std::size_t find_split(std::string_view written) {
    for (std::size_t plus = written.find('+'); plus != written.npos;
         plus = written.find('+', plus + 1))
        if (find_row(Part::between, WordAndValue(written.substr(plus + 1)))) return plus;
    return written.npos;
}

Status take(std::string_view written, Part part, std::string_view text, WrittenPart& out) {
    const WordAndValue read(text);
    const SourceRow* row = find_row(part, read);
    if (!row)
        return {Code::invalid_argument,
                fmt::format("GC_TOPOLOGY \"{}\": \"{}\" is no inside of hosts; allowed are {}",
                            printable(written), printable(text), allowed_forms())};
    GRADCOLL_TRY(check_value(written, read, row->takes));
    out = {row, std::string(read.value)};
    return {};
}

WrittenSource whole_source(std::string_view word, std::string_view value, std::string_view shown) {
    return {{{&source_row(Part::whole, word), std::string(value)}},
            fmt::format("GC_TOPOLOGY {}", shown)};
}

/// Parses flat, json:FILE, file:PATH; returns nothing if the text begins with no word of a whole
/// tree.
std::optional<Result<WrittenSource>> whole_by_word(std::string_view written) {
    const WordAndValue text(written);
    const SourceRow* row = find_row(Part::whole, text);
    if (!row) return std::nullopt;
    if (Status status = check_value(written, text, row->takes); !status.ok()) return status;
    return whole_source(row->word, text.value, written);
}

/// Parses INSIDE, BETWEEN or INSIDE+BETWEEN; returns nothing if the text begins with no word of
/// either.
std::optional<Result<WrittenSource>> parts_of_machine(std::string_view written) {
    const std::size_t split = find_split(written);
    WrittenPart inside{&source_row(Part::inside, "hwloc"), {}};
    WrittenPart between{&source_row(Part::between, "none"), {}};
    Status status;
    if (split != written.npos) {
        status = take(written, Part::inside, written.substr(0, split), inside);
        if (status.ok()) status = take(written, Part::between, written.substr(split + 1), between);
    } else if (find_row(Part::inside, WordAndValue(written))) {
        status = take(written, Part::inside, written, inside);
    } else if (find_row(Part::between, WordAndValue(written))) {
        status = take(written, Part::between, written, between);
    } else {
        return std::nullopt;
    }
    if (!status.ok()) return status;
    return WrittenSource{{inside, between}, fmt::format("GC_TOPOLOGY {}", written)};
}

bool looks_like_expression(std::string_view text) {
    return text.find('(') != text.npos || is_digit(text.front()) || text.front() == ')';
}

/// Returns what a path may hold: beside another source only what its own part allows, alone
/// anything.
std::string allowed_at(Part part) {
    if (part != Part::whole) return allowed_contents(part);
    return fmt::format("{}, {}, or {}", allowed_contents(Part::whole),
                       allowed_contents(Part::inside), allowed_contents(Part::between));
}

Status resolve_file(WrittenPart& written) {
    if (written.row->make) return {};
    const PathContent content = GRADCOLL_VALUE(content_at(written.value));
    const Part part = written.row->part;
    const SourceRow* row = source_for(content);
    if (!row || (part != Part::whole && row->part != part))
        return {Code::invalid_argument,
                fmt::format("\"{}\" {}; expected {}", written.value,
                            row ? row->found : "holds nothing that is known", allowed_at(part))};
    written.row = row;
    return {};
}

/// Adds the default for the other part, if only one part of a machine was written.
void complete(std::vector<WrittenPart>& parts) {
    const Part only = parts.front().row->part;
    if (parts.size() > 1 || only == Part::whole) return;
    if (only == Part::inside)
        parts.push_back({&source_row(Part::between, "none"), {}});
    else
        parts.insert(parts.begin(), {&source_row(Part::inside, "hwloc"), {}});
}

}  // namespace

const WrittenPart* WrittenSource::part(Part wanted) const {
    for (const WrittenPart& part : parts)
        if (part.row->part == wanted) return &part;
    return nullptr;
}

Result<WrittenSource> written_source(const std::string& text) {
    const std::string_view written = trimmed(text);
    if (written.empty() || written == "auto" || written == "discover")
        return WrittenSource{
            {{&source_row(Part::inside, "hwloc"), {}}, {&source_row(Part::between, "auto"), {}}},
            {}};
    if (const bool splits = find_split(written) != written.npos;
        !splits || !find_row(Part::inside, WordAndValue(written)))
        if (auto whole = whole_by_word(written)) return std::move(*whole);
    if (auto machine = parts_of_machine(written)) return std::move(*machine);
    if (written.ends_with(".json")) return whole_source("json", written, written);
    if (looks_like_expression(written)) return whole_source("expression", text, "expression");
    return Status(Code::invalid_argument, fmt::format("GC_TOPOLOGY \"{}\": expected {}",
                                                      printable(written), allowed_forms()));
}

bool is_discovered(std::string_view text) {
    const std::string_view written = trimmed(text);
    if (written.empty() || written == "discover") return true;
    const auto& table = source_table();
    return std::any_of(table.begin(), table.end(),
                       [&](const SourceRow& row) { return row.discovered && row.word == written; });
}

Status check_written(const std::string& text) {
    const WrittenSource source = GRADCOLL_VALUE(written_source(text));
    for (const auto& [row, value] : source.parts)
        if (row->make) GRADCOLL_TRY(row->make(value)->check_text());
    return {};
}

Result<WrittenSource> resolved(WrittenSource source) {
    for (WrittenPart& part : source.parts)
        if (const Status status = resolve_file(part); !status.ok())
            return Status(status.code(), fmt::format("{}: {}", source.origin, status.message()));
    complete(source.parts);
    return source;
}

}  // namespace gradcoll
