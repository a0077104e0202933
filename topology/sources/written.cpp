// topology/sources/written.cpp - see written.hpp.
#include "topology/sources/written.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/options.hpp"
#include "topology/text.hpp"

namespace gradcoll {

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view spaces = " \t\r\n";
    const std::size_t first = text.find_first_not_of(spaces);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

WrittenSource source_of(SourceForm form, std::string_view value, std::string_view shown) {
    return {form, std::string(value), fmt::format("GC_TOPOLOGY {}", shown)};
}

bool looks_like_expression(std::string_view text) {
    return text.find('(') != text.npos || (text.front() >= '0' && text.front() <= '9') ||
           text.front() == ')';
}

}  // namespace

Result<WrittenSource> written_source(const std::string& text) {
    static constexpr std::array<std::pair<std::string_view, SourceForm>, 4> prefixes{
        {{"json:", SourceForm::json},
         {"synthetic:", SourceForm::synthetic},
         {"xml:", SourceForm::xml},
         {"hosts:", SourceForm::hosts}}};
    const std::string_view written = trimmed(text);
    if (written.empty() || written == "discover") return WrittenSource{};
    if (written == "flat") return source_of(SourceForm::flat, {}, written);
    for (const auto& [prefix, form] : prefixes) {
        if (!written.starts_with(prefix)) continue;
        const std::string_view value = trimmed(written.substr(prefix.size()));
        if (value.empty())
            return Status(
                Code::invalid_argument,
                fmt::format("GC_TOPOLOGY {}: nothing follows the colon", printable(written)));
        return source_of(form, value, written);
    }
    if (written.ends_with(".json")) return source_of(SourceForm::json, written, written);
    if (looks_like_expression(written))
        return source_of(SourceForm::expression, text, "expression");
    return Status(
        Code::invalid_argument,
        fmt::format(
            "GC_TOPOLOGY \"{}\": expected an expression such as ((0 1) (2 3 4)), json:FILE, "
            "synthetic:STRING, xml:FILE, hosts:FILE, flat or discover",
            printable(written)));
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
