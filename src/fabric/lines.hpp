// fabric/lines.hpp - cuts a text into lines and words, and makes a parser's messages about
// a line.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/text.hpp"

namespace gradcoll {

/// Lines gives the significant lines of a text: empty ones and those that begin with # are skipped.
class Lines {
  public:
    explicit Lines(std::string_view text) : rest_(text) {}

    /// Advances; returns false at the end. line() is then the next line without blanks around it,
    /// number() its number from 1.
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

/// Returns the words between blanks.
inline std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
        const std::size_t end = text.find_first_of(" \t");
        words.push_back(text.substr(0, end));
        text.remove_prefix(words.back().size());
    }
    return words;
}

/// Returns the number, from 0, if it is whole and fills the whole text.
inline std::optional<int> number_in(std::string_view text) {
    const auto value = number_from<int>(text);
    return value && *value >= 0 ? value : std::nullopt;
}

/// Returns the number if it is finite, not negative, and fills the whole text.
inline std::optional<double> amount_in(std::string_view text) {
    const auto value = number_from<double>(text);
    return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

}  // namespace gradcoll
