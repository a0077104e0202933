#include "fuzz/topology_inputs.hpp"

#include <algorithm>
#include <deque>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz/promises.hpp"

namespace gradcoll::fuzz {
namespace {

constexpr std::string_view numbers[] = {
    "0",   "1",     "-1",     "2",          "7",
    "64",  "255",   "65536",  "4294967295", "18446744073709551616",
    "0.5", "1e308", "0x0",    "0xf...f",    "007",
    "nan", "0x1",   "0xffff", "1000000",    "2147483648"};

struct Piece {
    std::size_t at, length;
};

/// Returns where runs of characters of that kind are.
template <class Predicate>
std::vector<Piece> runs_of(const std::string& text, Predicate belongs) {
    std::vector<Piece> runs;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!belongs(text[i])) continue;
        const std::size_t at = i;
        while (i < text.size() && belongs(text[i])) ++i;
        runs.push_back({at, i - at});
    }
    return runs;
}

/// Returns the texts between quotation marks; or words, if there are none.
std::vector<Piece> values_of(const std::string& text) {
    std::vector<Piece> values;
    for (std::size_t open = text.find('"'); open != text.npos;) {
        const std::size_t close = text.find('"', open + 1);
        if (close == text.npos) break;
        values.push_back({open + 1, close - open - 1});
        open = text.find('"', close + 1);
    }
    if (!values.empty()) return values;
    return runs_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
}

void replace_one(std::string& text, const std::vector<Piece>& pieces, Random& random) {
    if (pieces.empty()) return;
    const Piece into = pieces[random.below(pieces.size())];
    const Piece from = pieces[random.below(pieces.size())];
    const std::string by(random.below(2) == 0
                             ? numbers[random.below(std::size(numbers))]
                             : std::string_view(text).substr(from.at, from.length));
    text.replace(into.at, into.length, by);
}

/// Removes, doubles or moves a line.
void change_lines(std::string& text, Random& random) {
    const std::vector<Piece> lines = runs_of(text, [](char c) { return c != '\n'; });
    if (lines.empty()) return;
    const Piece line = lines[random.below(lines.size())];
    const std::string copy = text.substr(line.at, line.length) + "\n";
    const std::size_t to = lines[random.below(lines.size())].at;
    const bool remove = random.below(2) == 0, insert = random.below(2) == 0;
    if (insert && to <= line.at) text.insert(to, copy);
    if (remove) text.erase(line.at + (insert && to <= line.at ? copy.size() : 0), line.length);
    if (insert && to > line.at) text.insert(remove ? to - line.length : to, copy);
}

std::string changed_seed(std::span<const std::string_view> seeds, Random& random) {
    std::string text(seeds[random.below(seeds.size())]);
    for (std::size_t n = 1 + random.below(4); n > 0; --n) {
        switch (random.below(4)) {
            case 0:
                replace_one(text, runs_of(text, [](char c) { return c >= '0' && c <= '9'; }),
                            random);
                break;
            case 1:
            case 2:
                replace_one(text, values_of(text), random);
                break;
            default:
                change_lines(text, random);
        }
    }
    return text;
}

std::string file_bytes(std::string_view name) {
    for (const char* folder :
         {GRADCOLL_TESTS_DIR "/golden/topologies/", GRADCOLL_RECORDED_DIR "/"}) {
        std::ifstream file(std::string(folder).append(name), std::ios::binary);
        if (file) return {std::istreambuf_iterator<char>(file), {}};
    }
    broken("recorded files are there", name);
}

/// Returns the end of the first empty line (else of the first line) that begins at or behind `at`.
std::size_t cut_at(const std::string& text, std::size_t at) {
    std::size_t cut = text.find("\n\n", at);
    if (cut == text.npos || cut > at + 2000) cut = text.find('\n', at);
    return cut == text.npos ? text.size() : cut + 1;
}

}  // namespace

std::string make_topology_input(std::span<const std::string_view> seeds, Random& random) {
    return random.below(2) == 0 ? make_input(seeds, random) : changed_seed(seeds, random);
}

std::span<const std::string_view> recorded(std::initializer_list<std::string_view> files) {
    constexpr std::size_t longest = 24'000, piece = 6'000, pieces = 3;
    static std::deque<std::string> texts;
    static std::deque<std::vector<std::string_view>> lists;
    std::vector<std::string_view>& list = lists.emplace_back();
    for (const std::string_view file : files) {
        std::string text = file_bytes(file);
        if (text.size() <= longest) {
            list.push_back(texts.emplace_back(std::move(text)));
            continue;
        }
        for (std::size_t i = 0; i < pieces; ++i) {
            const std::size_t begin = i == 0 ? 0 : cut_at(text, text.size() / pieces * i);
            const std::size_t end = cut_at(text, begin + piece);
            list.push_back(texts.emplace_back(text.substr(begin, end - begin)));
        }
    }
    return list;
}

}  // namespace gradcoll::fuzz
