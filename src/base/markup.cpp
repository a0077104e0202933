#include "base/markup.hpp"

#include <cstddef>
#include <cstdint>

namespace gradcoll {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned char byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

/// Returns the bytes of the character that a lead byte begins; 0 if it begins none.
std::size_t length_by(unsigned char lead) {
    if (lead >= 0xC2 && lead <= 0xDF) return 2;
    if (lead >= 0xE0 && lead <= 0xEF) return 3;
    if (lead >= 0xF0 && lead <= 0xF4) return 4;
    return 0;
}

/// Returns false for overlong forms, surrogates, what is above U+10FFFF, and the two that XML
/// forbids.
bool is_allowed(std::uint32_t code, std::size_t length) {
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    return code >= least[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) &&
           code != 0xFFFE && code != 0xFFFF;
}

/// Returns the bytes of the character of several bytes that begins at `at`; 0 if it is no UTF-8.
std::size_t character_length(std::string_view text, std::size_t at) {
    const std::size_t length = length_by(byte_at(text, at));
    if (length == 0 || at + length > text.size()) return 0;
    std::uint32_t code = byte_at(text, at) & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const unsigned char next = byte_at(text, at + i);
        if ((next & 0xC0U) != 0x80) return 0;
        code = code << 6 | (next & 0x3FU);
    }
    return is_allowed(code, length) ? length : 0;
}

std::string_view escaped(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        case '\t':
        case '\n':
        case '\r':
            return " ";
        default:
            return static_cast<unsigned char>(c) < ' ' || c == '\x7F' ? replacement
                                                                      : std::string_view();
    }
}

}  // namespace

std::string markup_text(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        if (byte_at(text, at) < 0x80) {
            const std::string_view other = escaped(text[at]);
            result += other.empty() ? text.substr(at, 1) : other;
            ++at;
            continue;
        }
        const std::size_t length = character_length(text, at);
        result += length > 0 ? text.substr(at, length) : replacement;
        at += length > 0 ? length : 1;
    }
    return result;
}

}  // namespace gradcoll
