// compress/codec_spec.cpp - from text to codecs.
#include "compress/codec_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "compress/packing.hpp"

namespace gradcoll {
namespace {

const CodecEntry* entry_named(std::string_view name) {
    for (const CodecEntry& entry : codec_entries()) {
        if (entry.member->is_internal) continue;
        const auto& aliases = entry.member->aliases;
        if (entry.member->name == name ||
            std::find(aliases.begin(), aliases.end(), name) != aliases.end())
            return &entry;
    }
    return nullptr;
}

/// Rest is the end of a text, from a place on, and what was read there.
struct Rest {
    std::string_view text;
    std::size_t at;

    Status refused(std::string_view why) const {
        return {Code::invalid_argument,
                fmt::format("codec \"{}\": \"{}\" at character {}: {}", printable(text),
                            printable(text.substr(at)), at + 1, why)};
    }
};

/// Returns a list for messages: "2:4+int8, 1:4+int8".
std::string allowed_chains() {
    std::string text;
    for (const auto& [stage, member] : codec_entries())
        if (member->name.find('+') != std::string_view::npos)
            fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ", ",
                           member->name);
    return text;
}

/// Returns the error for an unknown name. The longest beginning of a chain that is a codec was
/// right.
Status unknown(std::string_view text, std::string_view name) {
    constexpr std::size_t none = std::string_view::npos;
    for (std::size_t plus = name.rfind('+'); plus != none && plus != 0;
         plus = name.rfind('+', plus - 1))
        if (entry_named(name.substr(0, plus)) != nullptr)
            return Rest{text, plus}.refused(
                fmt::format("no such chain; allowed: {}, or {} behind a whole lossy codec",
                            allowed_chains(), packings_allowed));
    const std::string_view first = name.substr(0, name.find('+'));
    const std::string whole = first.size() == text.size()
                                  ? std::string()
                                  : fmt::format(", character 1 of \"{}\",", printable(text));
    return {Code::invalid_argument,
            fmt::format("codec \"{}\"{} is unknown; allowed: {}, and {} behind a lossy one",
                        printable(first), whole, allowed_codecs(), packings_allowed)};
}

/// ParameterRow is one parameter that codecs may take. `read` is given what follows the "="; it
/// returns false if there is no such value.
struct ParameterRow {
    std::string_view name;
    std::string_view allowed;  ///< text for people
    bool TakenParameters::*taken;
    bool (*read)(std::string_view text, CodecParameters& parameters);
    /// Returns what read() takes; empty if it is not said.
    std::string (*text)(const CodecParameters& parameters);
};

/// Reads "call" or "8call".
bool read_call_parts(std::string_view text, CodecParameters& parameters) {
    const std::string_view number = text.substr(0, text.size() - std::string_view("call").size());
    const auto parts =
        number.empty() ? Result<std::int64_t>(1) : parse_integer(number, 1, most_loss_parts);
    if (parts.ok()) parameters.call_parts = static_cast<std::uint16_t>(*parts);
    return parts.ok();
}
bool read_abs(std::string_view text, CodecParameters& parameters) {
    if (text.ends_with("call")) return read_call_parts(text, parameters);
    const Result<double> value = parse_positive(text);
    if (value.ok()) parameters.abs = *value;
    return value.ok();
}
std::string abs_text(const CodecParameters& parameters) {
    if (parameters.call_parts == 1) return "call";
    if (parameters.call_parts > 1) return fmt::format("{}call", parameters.call_parts);
    return parameters.abs == 0 ? "" : fmt::format("{}", parameters.abs);
}

bool read_rel(std::string_view text, CodecParameters& parameters) {
    const Result<double> value = parse_positive(text);
    if (!value.ok() || !(*value < 1)) return false;
    parameters.rel = *value;
    return true;
}
std::string rel_text(const CodecParameters& parameters) {
    return parameters.rel == 0 ? "" : fmt::format("{}", parameters.rel);
}

bool read_seed(std::string_view text, CodecParameters& parameters) {
    const auto value = parse_integer(text, 1, std::numeric_limits<std::uint32_t>::max());
    if (value.ok()) parameters.seed = static_cast<std::uint32_t>(*value);
    return value.ok();
}
std::string seed_text(const CodecParameters& parameters) {
    return parameters.seed == 0 ? "" : fmt::format("{}", parameters.seed);
}

constexpr ParameterRow parameter_rows[] = {
    {"abs", "abs=NUMBER, a positive number such as 1e-4: no element comes back further off",
     &TakenParameters::abs, read_abs, abs_text},
    {"rel", "rel=NUMBER, above 0 and below 1: not further off than this times its magnitude",
     &TakenParameters::rel, read_rel, rel_text},
    {"seed", "seed=INTEGER, from 1 to 4294967295: rounded up or down by chance",
     &TakenParameters::seed, read_seed, seed_text},
};

std::string allowed_parameters(const TakenParameters& taken) {
    std::string text;
    for (const ParameterRow& row : parameter_rows)
        if (taken.*row.taken)
            fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : "; or ",
                           row.allowed);
    return text;
}

/// Reads what follows "/": one parameter. Errors: what is wrong with it, for people.
Result<CodecParameters> parameter_from(std::string_view text, const TakenParameters& taken) {
    const auto wrong = [&](std::string_view why) {
        return Status(Code::invalid_argument,
                      fmt::format("{}; allowed: {}", why, allowed_parameters(taken)));
    };
    const std::size_t equals = text.find('=');
    for (const ParameterRow& row : parameter_rows) {
        if (!(taken.*row.taken) || text.substr(0, equals) != row.name) continue;
        CodecParameters parameters;
        if (equals != std::string_view::npos && row.read(text.substr(equals + 1), parameters))
            return parameters;
        return wrong("no such value");
    }
    return wrong("unknown parameter");
}

/// Reads the parameters of a stage, the first one at `rest`.
Result<CodecParameters> parameters_from(Rest rest, const CodecMember& member) {
    if (!member.takes.any())
        return rest.refused(
            fmt::format("{} takes no parameters; allowed: {}", member.name, member.name));
    CodecParameters parameters;
    while (rest.at < rest.text.size()) {
        const std::size_t end = std::min(rest.text.find('/', rest.at + 1), rest.text.size());
        const auto said =
            parameter_from(rest.text.substr(rest.at + 1, end - rest.at - 1), member.takes);
        if (!said) return rest.refused(said.status().message());
        if (parameters != CodecParameters{})
            return rest.refused("a second parameter; allowed: one");
        parameters = *said;
        rest.at = end;
    }
    return parameters;
}

/// Split is a text, and the packing that was at its end.
struct Split {
    std::string_view lossy;
    Packing packing = Packing::none;
};

Split without_packing(std::string_view text) {
    const std::size_t plus = text.rfind('+');
    if (plus == std::string_view::npos) return {text};
    const std::optional<Packing> packing = packing_named(text.substr(plus + 1));
    return packing ? Split{text.substr(0, plus), *packing} : Split{text};
}

Result<CodecSpec> lossy_from(std::string_view text) {
    const std::string_view name = text.substr(0, text.find('/'));
    const CodecEntry* entry = entry_named(name);
    if (entry == nullptr) return unknown(text, name);
    const CodecSpec chain = CodecSpec::of(entry->member->number);
    if (name.size() == text.size()) return chain;
    return chain.with(GRADCOLL_VALUE(parameters_from({text, name.size()}, *entry->member)));
}

}  // namespace

bool operator==(const CodecParameters& a, const CodecParameters& b) {
    const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
    return bits(a.abs) == bits(b.abs) && bits(a.rel) == bits(b.rel) && a.seed == b.seed &&
           a.call_parts == b.call_parts && a.packing == b.packing;
}

std::string CodecSpec::text() const {
    std::string text(chain_.member->name);
    for (const ParameterRow& row : parameter_rows)
        if (const std::string value = row.text(parameters_); !value.empty())
            fmt::format_to(std::back_inserter(text), "/{}={}", row.name, value);
    if (parameters_.packing != Packing::none)
        text += fmt::format("+{}", name_of(parameters_.packing));
    return text;
}

Result<CodecSpec> CodecSpec::parse(std::string_view text) {
    const Split split = without_packing(text);
    const CodecSpec lossy = GRADCOLL_VALUE(lossy_from(split.lossy));
    if (split.packing == Packing::none) return lossy;
    if (lossy == of(0))
        return Rest{text, split.lossy.size()}.refused(
            fmt::format("only what a lossy codec encodes is packed; allowed: {}", lossy.text()));
    CodecParameters parameters = lossy.parameters();
    parameters.packing = split.packing;
    return lossy.with(parameters);
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
