// topology/sources/host/bitmap.cpp - see hwloc_objects.hpp.
#include "topology/sources/host/hwloc_objects.hpp"

#include <algorithm>
#include <new>
#include <string_view>

namespace gradcoll {

namespace {

/// Returns whether the text is "0x" and one to eight digits.
bool is_word(std::string_view text) {
    return text.starts_with("0x") && text.size() >= 3 && text.size() <= 10 &&
           text.find_first_not_of("0123456789abcdefABCDEF", 2) == text.npos;
}

/// Returns whether the text is a list of words; nothing between two commas stands for 0.
bool are_words(std::string_view text, bool first_may_be_empty) {
    std::size_t left = max_bitmap_bits / 32;
    for (bool may_be_empty = first_may_be_empty; left > 0; --left, may_be_empty = true) {
        const std::size_t comma = text.find(',');
        const std::string_view word = text.substr(0, comma);
        if (comma == text.npos) return is_word(word);
        if (!is_word(word) && !(may_be_empty && word.empty())) return false;
        text.remove_prefix(comma + 1);
    }
    return false;
}

}  // namespace

Bitmap new_bitmap() {
    Bitmap set(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    if (!set) throw std::bad_alloc();
    return set;
}

Bitmap bitmap_from(const char* text) {
    constexpr std::string_view all_above = "0xf...f";
    std::string_view words = text;
    const bool endless = words.starts_with(all_above);
    if (endless) words.remove_prefix(std::min(all_above.size() + 1, words.size()));
    const bool alone = text == all_above;
    if (!alone && !are_words(words, endless)) return nullptr;
    Bitmap set = new_bitmap();
    if (hwloc_bitmap_sscanf(set.get(), text) != 0) return nullptr;
    // hwloc 2.9 sets the bits above only from a multiple of 64 on.
    if (endless && !alone) {
        const auto count = 1 + std::count(words.begin(), words.end(), ',');
        hwloc_bitmap_set_range(set.get(), static_cast<unsigned>(32 * count), -1);
    }
    return set;
}

}  // namespace gradcoll
