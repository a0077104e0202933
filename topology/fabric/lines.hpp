// topology/fabric/lines.hpp - cutting a text to lines and words, and what a parser says of a line
// that it does not understand.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/text.hpp"

namespace gradcoll {

/// The lines of a text that say something: empty ones and those that begin with # are skipped.
class Lines {
  public:
    explicit Lines(std::string_view text) : rest_(text) {}

    /// False at the end. Otherwise line() is the next line without blanks around it, number() its
    /// number from 1.
    bool next() {
        while (!rest_.empty()) {
            const std::size_t end = rest_.find('\n');
            line_ = trimmed(rest_.substr(0, end));
            rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
            ++number_;
            if (!line_.empty() && line_.front() != '#') return true;
        }
        return false;
    }
    std::string_view line() const { return line_; }
    int number() const { return number_; }

    Status error(std::string_view found, const std::string& expected) const {
        return {Code::invalid_argument, "line " + std::to_string(number_) + ": found " +
                                            printable(found) + ", expected " + expected};
    }

  private:
    std::string_view rest_;
    std::string_view line_;
    int number_ = 0;
};

/// Words between blanks.
inline std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
        const std::size_t end = text.find_first_of(" \t");
        words.push_back(text.substr(0, end));
        text.remove_prefix(words.back().size());
    }
    return words;
}

/// A whole number from 0 that fills the whole text.
inline std::optional<int> number_in(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

/// A finite number, not negative, that fills the whole text.
inline std::optional<double> amount_in(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (!std::isfinite(value) || value < 0) return std::nullopt;
    return value;
}

}  // namespace gradcoll
