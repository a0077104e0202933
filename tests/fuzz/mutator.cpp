#include "fuzz/mutator.hpp"

#include <algorithm>
#include <iterator>

#include "base/config_file.hpp"

namespace gradcoll::fuzz {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view pieces[] = {"=",
                                       "\n",
                                       "\r\n",
                                       "\n\n",
                                       "#",
                                       " #",
                                       "\"",
                                       "'",
                                       ",",
                                       ",,",
                                       "!",
                                       "*",
                                       "?",
                                       "/",
                                       "-",
                                       ":",
                                       "(",
                                       ")",
                                       " ",
                                       "\t",
                                       "\0"sv,
                                       "\xEF\xBB\xBF",
                                       "\xFF",
                                       "GC_",
                                       "gc_",
                                       "GC_CODEC=",
                                       "GC_COMPRESS_BYTES=",
                                       "codec = ",
                                       "compress_bytes = ",
                                       "0",
                                       "1",
                                       "7",
                                       "2:4",
                                       "exact",
                                       "auto",
                                       "all",
                                       "K",
                                       "GiB",
                                       "9223372036854775807",
                                       "18446744073709551615",
                                       "99999999999999999999999",
                                       "0-3",
                                       "(0 1)",
                                       "{}",
                                       "[",
                                       "]",
                                       "}",
                                       "null",
                                       "true",
                                       "-1",
                                       "1e308",
                                       "\"name\": ",
                                       "%s%n",
                                       "\\",
                                       "../",
                                       "$HOME"};

template <class List>
std::string_view any_of(const List& list, Random& random) {
    return list[random.below(std::size(list))];
}

std::string by_chance(Random& random) {
    std::string text(random.below(64), '\0');
    for (char& c : text) c = random.byte();
    return text;
}

/// Returns a text at, before or beyond a limit of the files.
std::string oversized(Random& random) {
    const std::size_t limit = random.below(2) == 0 ? longest_config_line : largest_config_bytes;
    std::string text = "\ncodec = ";
    text.resize(limit + random.below(16) - 4, random.below(2) == 0 ? '#' : 'x');
    return text + "\nlog = info\n";
}

void mutate(std::string& text, std::span<const std::string_view> seeds, Random& random) {
    const std::size_t at = random.below(text.size() + 1);
    const std::size_t length = random.below(std::min<std::size_t>(text.size() - at, 16) + 1);
    switch (random.below(8)) {
        case 0:
            if (at < text.size()) text[at] = random.byte();
            break;
        case 1:
            if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(7)));
            break;
        case 2:
            text.insert(at, 1, random.byte());
            break;
        case 3:
        case 4:
            text.insert(at, any_of(pieces, random));
            break;
        case 5:
            text.erase(at, length);
            break;
        case 6:
            text.insert(random.below(text.size() + 1), text.substr(at, length));
            break;
        default:
            text.replace(at, length, any_of(seeds, random));
    }
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t number)
    : state_((seed * 0x9E3779B97F4A7C15ULL ^ number * 0xD1B54A32D192ED03ULL) | 1) {
    for (int i = 0; i < 4; ++i) next();
}

std::uint64_t Random::next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1DULL;
}

std::string make_input(std::span<const std::string_view> seeds, Random& random) {
    if (random.below(20'000) == 0) return oversized(random);
    if (random.below(10) == 0) return by_chance(random);
    std::string text(any_of(seeds, random));
    for (std::size_t n = random.below(7); n > 0; --n) mutate(text, seeds, random);
    return text;
}

}  // namespace gradcoll::fuzz
