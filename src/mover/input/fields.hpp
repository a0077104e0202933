// mover/input/fields.hpp - reads an object of JSON that somebody wrote: each key once, its value
// within bounds. The first fault is kept: file, place, value, what is allowed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace gradcoll::mover {

/// A Document is JSON and its origin: the file's name, or the option that it was written behind.
struct Document {
    std::string origin;
    nlohmann::json json;
};

/// Words lists the words that a value may be, and what each stands for.
template <class Word>
using Words = std::initializer_list<std::pair<std::string_view, Word>>;

class Fields {
  public:
    /// `pointer` is the JSON pointer of `json` in its document; both outlive this.
    Fields(const nlohmann::json& json, std::string origin, std::string pointer = {});

    // Each of these leaves `out` as it is if the key is missing or null.
    void integer(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t& out);
    void number(std::string_view key, double least, double most, double& out);
    /// Reads a number of bytes, or a text such as "24GiB".
    void bytes(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t& out);
    void flag(std::string_view key, bool& out);
    void text(std::string_view key, std::string& out);
    template <class Word>
    void word(std::string_view key, Words<Word> words, Word& out) {
        std::string found;
        if (!string_at(key, found)) return;
        std::string allowed;
        for (const auto& [name, value] : words) {
            if (found == name) {
                out = value;
                return;
            }
            allowed += (allowed.empty() ? "" : ", ") + std::string(name);
        }
        wrong(key, "allowed are " + allowed);
    }
    /// Returns the value for others to read, or nullptr.
    const nlohmann::json* inner(std::string_view key);
    /// Records a fault if one of these keys is missing.
    void require(std::initializer_list<std::string_view> keys);

    bool has(std::string_view key) const;
    /// Records what is wrong with the value at `key`, in the form of all messages.
    void wrong(std::string_view key, const std::string& allowed);
    void fault(Status status);

    /// Returns the first fault; an unknown key is one, too.
    Status done() const;
    /// Returns the first fault, where unknown keys are allowed.
    const Status& done_ignoring_others() const { return status_; }

    const std::string& origin() const { return origin_; }
    std::string pointer_to(std::string_view key) const;

  private:
    const nlohmann::json* value_at(std::string_view key);
    bool string_at(std::string_view key, std::string& out);

    const nlohmann::json& json_;
    std::string origin_;
    std::string pointer_;
    std::vector<std::string> asked_;
    Status status_;
};

/// Makes a message such as "model.json: /transformer/layers: found -3, allowed are ...".
Status wrong_input(const std::string& origin, const std::string& pointer, const std::string& what);

/// Reads a file's JSON, or the JSON that `key=value,key=value` behind an option stands for. Errors:
/// io, invalid_argument with line and column.
Result<Document> read_document(std::string_view option, const std::string& argument);
Result<Document> document_of_text(const std::string& origin, std::string_view text);

}  // namespace gradcoll::mover
