#include "engine/messages.hpp"

#include <cmath>

namespace gradcoll {
namespace {

constexpr std::uint8_t more_bit = 1;
constexpr std::uint8_t links_bit = 2;
/// A record whose first number has this bit has only that number, unless it is `unnumbered`.
constexpr std::uint32_t short_bit = 1U << 31;
constexpr std::uint32_t short_more_bit = 1U << 30;

bool is_short(std::uint32_t first) {
    return (first & short_bit) != 0 && first != unnumbered;
}

std::string_view cut(std::string_view text, std::size_t most_bytes) {
    return text.substr(0, most_bytes);
}

Status too_short(const char* what) {
    return {Code::corrupt,
            std::string("a message of an engine ends within ") + what + ", or it is too long"};
}

}  // namespace

void write(const Ready& ready, ByteWriter& out) {
    if (ready.as_before) return out.number(ready.number | short_bit);
    out.number(ready.number);
    out.number(ready.priority);
    out.number(ready.bytes);
    out.number(ready.shape);
    out.number(ready.pack);
    out.number(ready.rank);
    out.text(cut(ready.name, most_name_bytes));
    out.text(cut(ready.shape_text, most_shape_bytes));
    out.text(cut(ready.error, most_error_bytes));
}

void write(const Verdict& verdict, ByteWriter& out) {
    const bool says_links = verdict.links_carry > 0;
    if (verdict.name.empty() && verdict.error.empty() && !says_links &&
        verdict.number < short_more_bit - 1)
        return out.number(verdict.number | short_bit | (verdict.more ? short_more_bit : 0));
    out.number(verdict.number);
    out.number(
        static_cast<std::uint8_t>((verdict.more ? more_bit : 0) | (says_links ? links_bit : 0)));
    out.text(cut(verdict.name, most_name_bytes));
    out.text(cut(verdict.error, most_error_bytes));
    if (says_links) out.number(verdict.links_carry);
}

Status read(ByteReader& in, Ready& out) {
    out = {};
    const bool any = in.number(out.number);
    if (any && is_short(out.number)) {
        out.number &= ~short_bit;
        out.as_before = true;
        return {};
    }
    const bool whole =
        any && in.number(out.priority) && in.number(out.bytes) && in.number(out.shape) &&
        in.number(out.pack) && in.number(out.rank) && in.text(out.name, most_name_bytes) &&
        in.text(out.shape_text, most_shape_bytes) && in.text(out.error, most_error_bytes);
    return whole ? Status() : too_short("what a rank has ready");
}

Status read(ByteReader& in, Verdict& out) {
    out = {};
    const bool any = in.number(out.number);
    if (any && is_short(out.number)) {
        out.more = (out.number & short_more_bit) != 0;
        out.number &= ~(short_bit | short_more_bit);
        return {};
    }
    std::uint8_t bits = 0;
    const bool whole = any && in.number(bits) && in.text(out.name, most_name_bytes) &&
                       in.text(out.error, most_error_bytes);
    out.more = (bits & more_bit) != 0;
    const bool says_links = (bits & links_bit) != 0;
    if (!whole || (says_links && !in.number(out.links_carry)))
        return too_short("what all ranks begin");
    const bool makes_sense = !says_links || (out.links_carry > 0 && std::isfinite(out.links_carry));
    if (makes_sense) return {};
    return {Code::corrupt, "a message of an engine has links that carry no part of what is said"};
}

}  // namespace gradcoll
