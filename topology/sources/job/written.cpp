// topology/sources/job/written.cpp - see written.hpp.
#include "topology/sources/job/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "topology/text.hpp"

namespace gradcoll {

namespace {

constexpr const char* allowed_forms =
    "auto, flat, an expression such as ((0 1) (2 3 4)), json:FILE, file:PATH, or INSIDE, BETWEEN "
    "or INSIDE+BETWEEN, where INSIDE is hwloc, synthetic:STRING, xml:FILE, hosts:FILE-OR-FOLDER, "
    "gpus:PATH or nccl:FILE, and BETWEEN is none, auto, slurm, probe, probe:CACHE-FILE or "
    "file:FILE";

enum class Value : std::uint8_t { never, may, must };

template <class Form>
struct Word {
    std::string_view text;
    Form form;
    Value value;
};

using Inside = InsideSource::Form;
using Between = BetweenSource::Form;

constexpr std::array<Word<Inside>, 7> inside_words{{{"hwloc", Inside::hwloc, Value::never},
                                                    {"synthetic", Inside::synthetic, Value::must},
                                                    {"xml", Inside::xml, Value::must},
                                                    {"hosts", Inside::hosts, Value::must},
                                                    {"gpus", Inside::gpus, Value::must},
                                                    {"nccl", Inside::nccl, Value::must},
                                                    {"file", Inside::file, Value::must}}};
constexpr std::array<Word<Between>, 5> between_words{{{"none", Between::none, Value::never},
                                                      {"auto", Between::automatic, Value::never},
                                                      {"slurm", Between::slurm, Value::never},
                                                      {"probe", Between::probe, Value::may},
                                                      {"file", Between::file, Value::must}}};
constexpr std::array<Word<SourceForm>, 2> whole_words{
    {{"json", SourceForm::json, Value::must}, {"file", SourceForm::file, Value::must}}};

/// "word" or "word:value", as far as the words go.
struct Part {
    std::string_view word;
    bool has_value = false;
    std::string_view value;

    explicit Part(std::string_view text) {
        const std::size_t colon = text.find(':');
        word = trimmed(text.substr(0, colon));
        has_value = colon != text.npos;
        if (has_value) value = trimmed(text.substr(colon + 1));
    }
};

template <class Form, std::size_t N>
const Word<Form>* find_word(const std::array<Word<Form>, N>& words, const Part& part) {
    const auto found = std::find_if(words.begin(), words.end(),
                                    [&](const auto& w) { return w.text == part.word; });
    return found == words.end() ? nullptr : &*found;
}

Status wrong(std::string_view written, const std::string& what) {
    return {Code::invalid_argument, fmt::format("GC_TOPOLOGY {}: {}", printable(written), what)};
}

Status check_value(std::string_view written, const Part& part, Value value) {
    if (part.has_value && part.value.empty()) return wrong(written, "nothing follows the colon");
    if (part.has_value && value == Value::never)
        return wrong(written, fmt::format("{} takes nothing after it", part.word));
    if (!part.has_value && value == Value::must)
        return wrong(written, fmt::format("{0} needs a value: {0}:{1}", part.word,
                                          part.word == "synthetic" ? "STRING" : "FILE"));
    return {};
}

/// The first + that a BETWEEN word follows.
std::size_t find_split(std::string_view written) {
    for (std::size_t plus = written.find('+'); plus != written.npos;
         plus = written.find('+', plus + 1))
        if (find_word(between_words, Part(written.substr(plus + 1)))) return plus;
    return written.npos;
}

Status take_inside(std::string_view written, std::string_view text, InsideSource& out) {
    const Part part(text);
    const Word<Inside>* word = find_word(inside_words, part);
    if (!word)
        return {Code::invalid_argument,
                fmt::format("GC_TOPOLOGY \"{}\": \"{}\" is no inside of hosts; allowed are {}",
                            printable(written), printable(text), allowed_forms)};
    GRADCOLL_TRY(check_value(written, part, word->value));
    out.form = word->form;
    out.value = part.value;
    return {};
}

Status take_between(std::string_view written, std::string_view text, BetweenSource& out) {
    const Part part(text);
    const Word<Between>* word = find_word(between_words, part);
    GRADCOLL_TRY(check_value(written, part, word->value));
    out = {word->form, std::string(part.value)};
    return {};
}

WrittenSource source_of(SourceForm form, std::string_view value, std::string_view shown) {
    WrittenSource source;
    source.form = form;
    source.value = value;
    source.origin = fmt::format("GC_TOPOLOGY {}", shown);
    return source;
}

/// json:FILE and file:PATH alone; nothing if it is neither.
std::optional<Result<WrittenSource>> whole_source(std::string_view written) {
    const Part part(written);
    const Word<SourceForm>* word = find_word(whole_words, part);
    if (!word) return std::nullopt;
    if (Status status = check_value(written, part, word->value); !status.ok()) return status;
    return source_of(word->form, part.value, written);
}

/// INSIDE, BETWEEN or INSIDE+BETWEEN; nothing if it begins with no word of either.
std::optional<Result<WrittenSource>> machine_source(std::string_view written) {
    const std::size_t split = find_split(written);
    WrittenSource source = source_of(SourceForm::machine, {}, written);
    source.between.form = Between::none;
    Status status;
    if (split != written.npos) {
        status = take_inside(written, written.substr(0, split), source.inside);
        if (status.ok()) status = take_between(written, written.substr(split + 1), source.between);
    } else if (find_word(inside_words, Part(written))) {
        status = take_inside(written, written, source.inside);
    } else if (find_word(between_words, Part(written))) {
        status = take_between(written, written, source.between);
    } else {
        return std::nullopt;
    }
    if (!status.ok()) return status;
    return source;
}

bool looks_like_expression(std::string_view text) {
    return text.find('(') != text.npos || (text.front() >= '0' && text.front() <= '9') ||
           text.front() == ')';
}

}  // namespace

Result<WrittenSource> written_source(const std::string& text) {
    const std::string_view written = trimmed(text);
    if (written.empty() || written == "auto" || written == "discover") return WrittenSource{};
    if (written == "flat") return source_of(SourceForm::flat, {}, written);
    if (const bool splits = find_split(written) != written.npos;
        !splits || Part(written).word == "json")
        if (auto whole = whole_source(written)) return std::move(*whole);
    if (auto machine = machine_source(written)) return std::move(*machine);
    if (written.ends_with(".json")) return source_of(SourceForm::json, written, written);
    if (looks_like_expression(written))
        return source_of(SourceForm::expression, text, "expression");
    return Status(Code::invalid_argument, fmt::format("GC_TOPOLOGY \"{}\": expected {}",
                                                      printable(written), allowed_forms));
}

Result<std::string> read_file(const std::string& path) {
    constexpr std::size_t max_bytes = std::size_t{256} << 20;
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string bytes;
    std::array<char, 1 << 16> block;
    while (file && bytes.size() <= max_bytes) {
        file.read(block.data(), block.size());
        bytes.append(block.data(), static_cast<std::size_t>(file.gcount()));
    }
    if (!file.eof()) {
        const std::string reason = bytes.size() > max_bytes ? "it is larger than 256 MiB"
                                                            : std::strerror(errno ? errno : EIO);
        return Status(Code::io, fmt::format("file \"{}\" cannot be read: {}", path, reason));
    }
    return bytes;
}

Result<Tree> written_tree(const WrittenSource& source, int world_size) {
    if (source.form == SourceForm::flat) return Tree::flat(world_size);
    if (source.form == SourceForm::expression)
        return tree_from_expression(source.value, world_size);
    const Result<std::string> text = read_file(source.value);
    if (!text.ok()) return text.status();
    return tree_from_json(*text, world_size);
}

}  // namespace gradcoll
