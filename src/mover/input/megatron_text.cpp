// mover/input/megatron_text.cpp - finds Megatron-LM's arguments in texts; see frameworks.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "mover/input/frameworks.hpp"
#include "mover/input/megatron_keys.hpp"

namespace gradcoll::mover {
namespace {

constexpr std::size_t longest_text = std::size_t{16} << 20;
constexpr std::string_view blanks = " \t\r";
constexpr std::string_view around_words = " \t\r\"'()\\";  // of shells
constexpr std::string_view around_values = " \t\r\"'[]";   // of YAML

bool is_flag(std::string_view key) {
    const auto is_key = [key](const RefusedKey& refused) {
        return refused.key == key && refused.followed == "false";
    };
    return std::find(megatron_flags.begin(), megatron_flags.end(), key) != megatron_flags.end() ||
           std::any_of(refused_megatron_keys.begin(), refused_megatron_keys.end(), is_key);
}

bool is_known(std::string_view key) {
    const auto is_key = [key](const RefusedKey& refused) { return refused.key == key; };
    return is_flag(key) ||
           std::find(megatron_values.begin(), megatron_values.end(), key) !=
               megatron_values.end() ||
           std::any_of(refused_megatron_keys.begin(), refused_megatron_keys.end(), is_key);
}

std::string_view without(std::string_view letters, std::string_view text) {
    const std::size_t first = text.find_first_not_of(letters);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(letters) + 1 - first);
}

std::string_view without_comment(std::string_view line) {
    for (std::size_t at = line.find('#'); at != line.npos; at = line.find('#', at + 1))
        if (at == 0 || blanks.find(line[at - 1]) != blanks.npos) return line.substr(0, at);
    return line;
}

/// Returns a number, true, false or null if the word is one, else a text.
nlohmann::json value_of(std::string_view word) {
    if (word == "None" || word == "~") return nullptr;
    if (word == "True" || word == "False") return word == "True";
    auto value = nlohmann::json::parse(word, nullptr, false);
    return value.is_discarded() || value.is_structured() ? nlohmann::json(printable(word)) : value;
}

class ArgumentReader {
  public:
    explicit ArgumentReader(std::string origin)
        : out_{std::move(origin), nlohmann::json::object()} {}

    void take_line(std::string_view line) {
        line = without(blanks, without_comment(line));
        if (const auto pair = pair_of_yaml(line)) {
            end_of_argument();
            set(plain_megatron_key(pair->first), value_of(without(around_values, pair->second)));
            return;
        }
        for (std::size_t at = 0; at < line.size();) {
            const std::size_t end = std::min(line.find_first_of(around_words, at), line.size());
            if (end > at) take_word(line.substr(at, end - at));
            at = end + 1;
        }
    }

    Result<Document> result() && {
        end_of_argument();
        if (!status_.ok()) return status_;
        return std::move(out_);
    }

  private:
    using Pair = std::pair<std::string_view, std::string_view>;

    /// Returns key and value of "key: value"; a value may be missing, as of a section.
    static std::optional<Pair> pair_of_yaml(std::string_view line) {
        const std::size_t colon = line.find(':');
        if (colon == line.npos || colon == 0) return std::nullopt;
        if (colon + 1 < line.size() && blanks.find(line[colon + 1]) == blanks.npos)
            return std::nullopt;
        const std::string_view key = line.substr(0, colon);
        if (key.find_first_of(" \t\"'()$=") != key.npos) return std::nullopt;
        return Pair{key, line.substr(colon + 1)};
    }

    void take_word(std::string_view word) {
        if (!word.starts_with("--")) {
            set_variable(word);
            if (!key_.empty()) words_.emplace_back(word);
            return;
        }
        end_of_argument();
        variable_.clear();
        const std::size_t equals = word.find('=');
        key_ = plain_megatron_key(word.substr(0, equals));
        if (equals != word.npos) words_.emplace_back(word.substr(equals + 1));
    }

    /// Takes "NAME=value" as a shell does; a variable with several values has none. A value in
    /// quotes is the word after the name's.
    void set_variable(std::string_view word) {
        const std::size_t equals = word.find('=');
        const bool names = equals != word.npos && equals > 0;
        const std::string name = names ? std::string(word.substr(0, equals)) : variable_;
        const std::string_view value = names ? word.substr(equals + 1) : word;
        variable_ = names && value.empty() ? name : std::string();
        if (name.empty() || value.empty() || value.find('$') != value.npos) return;
        const auto [found, is_new] = variables_.emplace(name, value);
        if (!is_new && found->second != value) found->second.clear();
    }

    /// Replaces $NAME or ${NAME} by the variable's value, if it has one.
    std::string with_variable(const std::string& word) const {
        if (!word.starts_with('$')) return word;
        std::string_view name = std::string_view(word).substr(1);
        if (name.starts_with('{') && name.ends_with('}')) name = name.substr(1, name.size() - 2);
        const auto found = variables_.find(std::string(name));
        return found == variables_.end() || found->second.empty() ? word : found->second;
    }

    void end_of_argument() {
        const std::string key = std::exchange(key_, {});
        const std::vector<std::string> words = std::exchange(words_, {});
        if (key.empty() || !is_known(key)) return;
        if (is_flag(key)) return set(key, true);
        // All others have one value: what comes after it are words of the command.
        const bool several = key == "recompute_modules";
        std::string value;
        for (const std::string& word : words) {
            value += (value.empty() ? "" : " ") + with_variable(word);
            if (!several) break;
        }
        set(key, value_of(value));
    }

    void set(const std::string& key, nlohmann::json value) {
        if (!is_known(key) || !status_.ok()) return;
        const auto found = out_.json.find(key);
        if (found != out_.json.end() && *found != value)
            status_ = wrong_input(
                out_.origin, "/" + key,
                fmt::format("found {} and {}, allowed is one value", found->dump(), value.dump()));
        out_.json[key] = std::move(value);
    }

    Document out_;
    Status status_;
    std::string key_;                 ///< of the argument that is being read
    std::vector<std::string> words_;  ///< after it
    std::string variable_;            ///< whose value has yet to come
    std::unordered_map<std::string, std::string> variables_;
};

}  // namespace

Result<Document> megatron_arguments(const std::string& origin, std::string_view text) {
    ArgumentReader reader(origin);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        reader.take_line(text.substr(at, end - at));
        at = end + 1;
    }
    Document found = GRADCOLL_VALUE(std::move(reader).result());
    if (found.json.empty())
        return wrong_input(origin, "",
                           "allowed is JSON, or Megatron-LM's arguments on a command line or in "
                           "YAML: none is there");
    // Megatron-LM's default also tells others what the document is.
    if (!is_megatron(found.json)) found.json["tensor_model_parallel_size"] = 1;
    return found;
}

Result<Document> read_parallel(std::string_view option, const std::string& argument) {
    if (argument.find('=') != argument.npos) return read_document(option, argument);
    const auto text = bytes_of_file(argument, longest_text);
    if (!text.ok() || without(" \t\r\n", *text).starts_with('{'))
        return read_document(option, argument);
    return megatron_arguments(argument, *text);
}

}  // namespace gradcoll::mover
