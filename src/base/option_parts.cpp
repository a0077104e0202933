#include "base/option_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace gradcoll {
namespace {

/// Returns "threads" of "threads=2"; nothing of what has no such word in front.
std::string_view word_of(std::string_view entry) {
    const std::size_t end = entry.find('=');
    if (end == std::string_view::npos) return {};
    const std::string_view word = trimmed(entry.substr(0, end));
    const bool is_word = std::all_of(word.begin(), word.end(),
                                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    return is_word ? word : std::string_view();
}

std::string words_of(const OptionInfo& whole) {
    std::string words(whole.own_words);
    for (const OptionInfo* part : parts_of(whole.id))
        words += fmt::format("{}{}=", words.empty() ? "" : ", ", part->word);
    return words;
}

/// A Splitter goes through one value.
class Splitter {
  public:
    explicit Splitter(const OptionInfo& whole) : whole_(whole) {}

    Result<std::vector<PartText>> split(std::string_view text) {
        for (bool more = true; more;) {
            const std::size_t comma = text.find(',');
            const std::string_view entry = trimmed(text.substr(0, comma));
            const std::string_view word = word_of(entry);
            const OptionInfo* const part = part_named(word);
            if (part == nullptr && !word.empty() && !is_own(word))
                return Status(Code::invalid_argument,
                              fmt::format("'{}=' is no word of {}; allowed: {}", printable(word),
                                          whole_.variable, words_of(whole_)));
            const OptionInfo& row = part != nullptr ? *part : whole_;
            more = comma != std::string_view::npos && !row.takes_rest;
            GRADCOLL_TRY(add(row, row.takes_rest ? trimmed(text) : entry));
            if (more) text.remove_prefix(comma + 1);
        }
        return std::move(said_);
    }

  private:
    const OptionInfo* part_named(std::string_view word) const {
        for (const OptionInfo* part : parts_of(whole_.id))
            if (part->word == word) return part;
        return nullptr;
    }

    bool is_own(std::string_view word) const {
        const auto own = split_at_commas(whole_.own_words);
        return std::any_of(own.begin(), own.end(), [&](std::string_view known) {
            return known.substr(0, known.find('=')) == word;
        });
    }

    Status add(const OptionInfo& row, std::string_view entry) {
        const auto before = std::find_if(said_.begin(), said_.end(),
                                         [&](const PartText& said) { return said.id == row.id; });
        if (!is_part(row)) {
            if (before == said_.end())
                said_.push_back({row.id, std::string(entry)});
            else
                before->text += fmt::format(",{}", entry);
            return {};
        }
        if (before != said_.end())
            return {Code::invalid_argument,
                    fmt::format("'{}=' is said twice in {}", row.word, whole_.variable)};
        said_.push_back({row.id, std::string(trimmed(entry.substr(entry.find('=') + 1)))});
        return {};
    }

    const OptionInfo& whole_;
    std::vector<PartText> said_;
};

}  // namespace

Result<std::vector<PartText>> parts_in(OptionId whole, std::string_view text) {
    const OptionInfo& row = info_of(whole);
    if (words_of(row).empty()) return std::vector<PartText>{{whole, std::string(text)}};
    return Splitter(row).split(text);
}

std::string joined_parts(OptionId whole, const std::function<std::string_view(OptionId)>& text_of) {
    std::string before, rest;
    for (const OptionInfo& row : option_table()) {
        const std::string_view text = text_of(row.id);
        const bool is_said = is_part(row) ? text != row.default_value : !text.empty();
        if (row.whole != whole || !is_said) continue;
        std::string& out = row.takes_rest ? rest : before;
        if (!out.empty()) out += ',';
        out += is_part(row) ? fmt::format("{}={}", row.word, text) : std::string(text);
    }
    return before.empty() || rest.empty() ? before + rest : before + ',' + rest;
}

}  // namespace gradcoll
