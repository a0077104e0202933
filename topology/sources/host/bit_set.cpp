// topology/sources/host/bit_set.cpp - see bit_set.hpp.
#include "topology/sources/host/bit_set.hpp"

#include <algorithm>
#include <charconv>

namespace gradcoll {

namespace {

/// "0x" and one to eight digits; nothing at all between two commas is 0.
std::optional<std::uint32_t> word_from(std::string_view text, bool first) {
    std::uint32_t word = 0;
    if (text.empty() && !first) return word;
    if (!text.starts_with("0x") || text.size() < 3 || text.size() > 10) return std::nullopt;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 2, end, word, 16);
    return error == std::errc() && stop == end ? std::optional(word) : std::nullopt;
}

}  // namespace

std::optional<BitSet> BitSet::from(std::string_view text) {
    BitSet set;
    for (bool first = true;; first = false) {
        const std::size_t comma = text.find(',');
        const std::string_view piece = text.substr(0, comma);
        if (first && piece == "0xf...f") {
            set.beyond_ = ~std::uint32_t{0};
        } else {
            const std::optional<std::uint32_t> word = word_from(piece, first);
            if (!word || set.words_.size() >= max_bits / 32) return std::nullopt;
            set.words_.push_back(*word);
        }
        if (comma == text.npos) break;
        text.remove_prefix(comma + 1);
    }
    std::reverse(set.words_.begin(), set.words_.end());
    return set;
}

BitSet BitSet::of(std::uint32_t bit) {
    BitSet set;
    set.words_.resize(bit / 32 + 1);
    set.words_.back() = std::uint32_t{1} << (bit % 32);
    return set;
}

bool BitSet::within(const BitSet& other) const {
    const std::size_t words = std::max(words_.size(), other.words_.size()) + 1;
    for (std::size_t i = 0; i < words; ++i)
        if ((word(i) & ~other.word(i)) != 0) return false;
    return true;
}

bool BitSet::meets(const BitSet& other) const {
    const std::size_t words = std::max(words_.size(), other.words_.size()) + 1;
    for (std::size_t i = 0; i < words; ++i)
        if ((word(i) & other.word(i)) != 0) return true;
    return false;
}

bool BitSet::empty() const {
    return beyond_ == 0 && std::all_of(words_.begin(), words_.end(), [](auto w) { return w == 0; });
}

void BitSet::add(const BitSet& other) {
    const std::size_t own = words_.size();
    words_.resize(std::max(own, other.words_.size()), beyond_);
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.word(i);
    beyond_ |= other.beyond_;
}

}  // namespace gradcoll
