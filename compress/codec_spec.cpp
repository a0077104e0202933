// compress/codec_spec.cpp - from text to stages.
#include "compress/codec_spec.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

Result<CodecSpec> CodecSpec::parse(std::string_view text) {
    const std::string_view name = text.substr(0, text.find_first_of("+/"));
    const CodecEntry* entry = entry_named(name);
    if (entry == nullptr) return unknown(text, name);
    if (name.size() == text.size()) return CodecSpec(*entry);
    const Rest rest{text, name.size()};
    if (text[name.size()] == '+')
        return rest.refused("chains of stages are not supported yet; allowed: one stage");
    return rest.refused(fmt::format("{} takes no parameters; allowed: {}", name, name));
}

CodecSpec CodecSpec::of(std::uint8_t number) {
    return CodecSpec(codec_entries()[place_of_codec(number)]);
}

}  // namespace gradcoll
