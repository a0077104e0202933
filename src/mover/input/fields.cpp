// mover/input/fields.cpp - see fields.hpp.
#include "mover/input/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files.hpp"
#include "base/text.hpp"
#include "topology/json_value.hpp"

namespace gradcoll::mover {
namespace {

/// Descriptions are short; the longest plans are not read with Fields.
constexpr std::size_t longest_document = std::size_t{16} << 20;

/// Returns a number, true or false if the word parses as one, else a text.
nlohmann::json value_of_word(std::string_view word) {
    auto value = nlohmann::json::parse(word, nullptr, false);
    if (value.is_discarded() || value.is_structured()) return std::string(word);
    return value;
}

Result<Document> short_form(std::string_view option, std::string_view argument) {
    Document document{std::string(option), nlohmann::json::object()};
    for (const std::string_view item : split_at_commas(argument)) {
        const std::size_t equals = item.find('=');
        if (equals == item.npos || equals == 0)
            return wrong_input(document.origin, "",
                               fmt::format("found {}, allowed are key=value,key=value or a file",
                                           printable(item)));
        std::string key(trimmed(item.substr(0, equals)));
        std::replace(key.begin(), key.end(), '-', '_');
        if (document.json.contains(key))
            return wrong_input(document.origin, "/" + key, "stands twice");
        document.json[key] = value_of_word(trimmed(item.substr(equals + 1)));
    }
    return document;
}

/// Returns the text with null in place of Python's Infinity, which is no JSON but stands in files
/// that Python wrote. Places in the text stay where they are.
std::string without_infinity(std::string_view text) {
    constexpr std::string_view infinity = "Infinity";
    std::string out(text);
    bool in_string = false;
    for (std::size_t c = 0; c < out.size(); ++c) {
        if (out[c] == '\\' && in_string) {
            ++c;
        } else if (out[c] == '"') {
            in_string = !in_string;
        } else if (!in_string && out.compare(c, infinity.size(), infinity) == 0) {
            if (c > 0 && out[c - 1] == '-') out[c - 1] = ' ';
            out.replace(c, infinity.size(), "null    ");
        }
    }
    return out;
}

}  // namespace

Status wrong_input(const std::string& origin, const std::string& pointer, const std::string& what) {
    std::string message = with_plain_characters(
        fmt::format("{}: {}{}{}", origin, pointer, pointer.empty() ? "" : ": ", what));
    constexpr std::size_t longest = 600;
    if (message.size() > longest) message = message.substr(0, longest) + "...";
    return {Code::invalid_argument, std::move(message)};
}

Result<Document> document_of_text(const std::string& origin, std::string_view text) {
    if (const Status deep = check_json_depth(text, most_json_depth); !deep.ok())
        return wrong_input(origin, "", deep.message());
    try {
        return Document{origin, nlohmann::json::parse(without_infinity(text))};
    } catch (const nlohmann::json::exception& error) {
        return wrong_input(origin, "", reason_of(error));
    }
}

Result<Document> read_document(std::string_view option, const std::string& argument) {
    if (argument.find('=') != argument.npos) return short_form(option, argument);
    const auto text = bytes_of_file(argument, longest_document);
    if (!text.ok())
        return Status(Code::io, fmt::format("{} {}: {}", option, printable(argument),
                                            text.status().message()));
    return document_of_text(argument, *text);
}

Fields::Fields(const nlohmann::json& json, std::string origin, std::string pointer)
    : json_(json), origin_(std::move(origin)), pointer_(std::move(pointer)) {
    if (!json_.is_object())
        fault(wrong_input(origin_, pointer_,
                          fmt::format("found {}, allowed is an object", shown(json_))));
}

std::string Fields::pointer_to(std::string_view key) const {
    return fmt::format("{}/{}", pointer_, key);
}

bool Fields::has(std::string_view key) const {
    if (!json_.is_object()) return false;
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
}

const nlohmann::json* Fields::value_at(std::string_view key) {
    asked_.emplace_back(key);
    return has(key) ? &*json_.find(key) : nullptr;
}

void Fields::fault(Status status) {
    if (status_.ok()) status_ = std::move(status);
}

void Fields::wrong(std::string_view key, const std::string& allowed) {
    const auto found = json_.find(key);
    fault(wrong_input(
        origin_, pointer_to(key),
        fmt::format("found {}, {}", found == json_.end() ? "nothing" : shown(*found), allowed)));
}

void Fields::integer(std::string_view key, std::int64_t least, std::int64_t most,
                     std::int64_t& out) {
    const auto* value = value_at(key);
    if (value == nullptr) return;
    // Unsigned values beyond int64 are as wrong as others.
    const bool fits = value->is_number_integer() &&
                      (!value->is_number_unsigned() || value->get<std::uint64_t>() <= INT64_MAX);
    if (!fits || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most)
        return wrong(key, fmt::format("allowed are integers from {} to {}", least, most));
    out = value->get<std::int64_t>();
}

void Fields::number(std::string_view key, double least, double most, double& out) {
    const auto* value = value_at(key);
    if (value == nullptr) return;
    const double number = value->is_number() ? value->get<double>() : NAN;
    if (!(number >= least && number <= most))
        return wrong(key, fmt::format("allowed are numbers from {} to {}", least, most));
    out = number;
}

void Fields::bytes(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t& out) {
    const auto* value = value_at(key);
    if (value == nullptr) return;
    if (!value->is_string()) return integer(key, least, most, out);
    const auto bytes = parse_bytes(value->get_ref<const std::string&>());
    if (!bytes.ok() || *bytes > static_cast<std::uint64_t>(most) ||
        static_cast<std::int64_t>(*bytes) < least)
        return wrong(
            key, fmt::format("allowed are {} to {} bytes, or a text as \"24GiB\"", least, most));
    out = static_cast<std::int64_t>(*bytes);
}

void Fields::flag(std::string_view key, bool& out) {
    const auto* value = value_at(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) return wrong(key, "allowed are true, false");
    out = value->get<bool>();
}

bool Fields::string_at(std::string_view key, std::string& out) {
    const auto* value = value_at(key);
    if (value == nullptr) return false;
    if (!value->is_string()) {
        wrong(key, "allowed is a text");
        return false;
    }
    out = value->get<std::string>();
    return true;
}

void Fields::text(std::string_view key, std::string& out) {
    string_at(key, out);
}

const nlohmann::json* Fields::inner(std::string_view key) {
    return value_at(key);
}

void Fields::require(std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys)
        if (!has(key)) fault(wrong_input(origin_, pointer_to(key), "is missing"));
}

Status Fields::done() const {
    if (!status_.ok()) return status_;
    for (const auto& [key, value] : json_.items()) {
        if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
        std::string allowed;
        for (const std::string& known : asked_) allowed += (allowed.empty() ? "" : ", ") + known;
        return wrong_input(origin_, pointer_to(printable(key)),
                           "unknown key: allowed are " + allowed);
    }
    return {};
}

}  // namespace gradcoll::mover
