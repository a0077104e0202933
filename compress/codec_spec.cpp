// compress/codec_spec.cpp - from text to stages.
#include "compress/codec_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "base/text.hpp"

namespace gradcoll {
namespace {

const CodecEntry* entry_named(std::string_view name) {
    for (const CodecEntry& entry : codec_entries()) {
        const auto& aliases = entry.member->aliases;
        if (entry.member->name == name ||
            std::find(aliases.begin(), aliases.end(), name) != aliases.end())
            return &entry;
    }
    return nullptr;
}

/// The end of a text, from a place on: what was read there.
struct Rest {
    std::string_view text;
    std::size_t at;

    Status refused(std::string_view why) const {
        return {Code::invalid_argument,
                fmt::format("codec \"{}\": \"{}\" at character {}: {}", printable(text),
                            printable(text.substr(at)), at + 1, why)};
    }
};

Status unknown(std::string_view text, std::string_view name) {
    const std::string whole = name.size() == text.size()
                                  ? std::string()
                                  : fmt::format(", character 1 of \"{}\",", printable(text));
    return {Code::invalid_argument, fmt::format("codec \"{}\"{} is unknown; allowed: {}",
                                                printable(name), whole, allowed_codecs())};
}

constexpr std::string_view abs_is = "abs=";

/// What follows "/": one parameter. Errors: what is wrong with it, for people.
Result<double> tolerance_from(std::string_view parameter) {
    constexpr std::string_view allowed =
        "allowed: abs=NUMBER, a positive number such as 1e-4: no element comes back further off";
    const auto wrong = [&](std::string_view why) {
        return Status(Code::invalid_argument, fmt::format("{}; {}", why, allowed));
    };
    if (!parameter.starts_with(abs_is)) return wrong("unknown parameter");
    const Result<double> value = parse_positive(parameter.substr(abs_is.size()));
    return value.ok() ? value : wrong("not a positive number");
}

/// The parameters of a stage, the first one at `rest`.
Result<CodecParameters> parameters_from(Rest rest, const CodecMember& member) {
    if (!member.takes_tolerance)
        return rest.refused(
            fmt::format("{} takes no parameters; allowed: {}", member.name, member.name));
    CodecParameters parameters;
    while (rest.at < rest.text.size()) {
        const std::size_t end = std::min(rest.text.find('/', rest.at + 1), rest.text.size());
        const auto value = tolerance_from(rest.text.substr(rest.at + 1, end - rest.at - 1));
        if (!value) return rest.refused(value.status().message());
        if (parameters.abs != 0) return rest.refused("said twice; allowed: once");
        parameters.abs = *value;
        rest.at = end;
    }
    return parameters;
}

}  // namespace

bool operator==(const CodecParameters& a, const CodecParameters& b) {
    return std::bit_cast<std::uint64_t>(a.abs) == std::bit_cast<std::uint64_t>(b.abs);
}

std::string CodecSpec::text() const {
    return parameters_.abs == 0
               ? std::string(stage_.member->name)
               : fmt::format("{}/{}{}", stage_.member->name, abs_is, parameters_.abs);
}

Result<CodecSpec> CodecSpec::parse(std::string_view text) {
    const std::string_view name = text.substr(0, text.find_first_of("+/"));
    const CodecEntry* entry = entry_named(name);
    if (entry == nullptr) return unknown(text, name);
    if (name.size() == text.size()) return CodecSpec(*entry);
    if (const std::size_t plus = text.find('+'); plus != std::string_view::npos)
        return Rest{text, plus}.refused(
            "chains of stages are not supported yet; allowed: one stage");
    return CodecSpec(*entry).with(
        GRADCOLL_VALUE(parameters_from({text, name.size()}, *entry->member)));
}

CodecSpec CodecSpec::with(const CodecParameters& parameters) const {
    CodecSpec spec = *this;
    spec.parameters_ = parameters;
    return spec;
}

CodecSpec CodecSpec::of(std::uint8_t number) {
    return CodecSpec(codec_entries()[place_of_codec(number)]);
}

}  // namespace gradcoll
