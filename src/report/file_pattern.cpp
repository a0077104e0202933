#include "report/file_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradcoll {
namespace {

std::string as_file_name(std::string text) {
    std::replace(text.begin(), text.end(), '/', '_');
    return text;
}

/// Appends to the path what stands for a percent sign and `what`; 0 if nothing follows the sign.
void expand_place(char what, const PatternFacts& facts, ExpandedPattern& expanded) {
    switch (what) {
        case '%':
            expanded.path += '%';
            return;
        case 'h':
            expanded.path += as_file_name(facts.host);
            return;
        case 'p':
            expanded.path += std::to_string(facts.process_id);
            expanded.has_process = true;
            return;
        case 'r':
            expanded.path += std::to_string(facts.rank);
            expanded.has_rank = true;
            return;
        default:
            break;
    }
    const std::string literal = what != '\0' ? std::string{'%', what} : "%";
    expanded.path += literal;
    expanded.complaints.push_back(
        fmt::format("{} means nothing in a file name and stays as it is; known are %h (host), %p "
                    "(process id), %r (rank) and %% (a percent sign)",
                    literal));
}

}  // namespace

ExpandedPattern expand_pattern(std::string_view pattern, const PatternFacts& facts) {
    ExpandedPattern expanded;
    for (std::size_t i = 0; i < pattern.size(); ++i)
        if (pattern[i] != '%')
            expanded.path += pattern[i];
        else
            expand_place(i + 1 < pattern.size() ? pattern[++i] : '\0', facts, expanded);
    return expanded;
}

std::string with_rank(std::string_view pattern) {
    if (expand_pattern(pattern, {}).has_rank) return std::string(pattern);
    const std::size_t slash = pattern.rfind('/');
    const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
    std::size_t dot = pattern.rfind('.');
    if (dot == std::string_view::npos || dot <= name) dot = pattern.size();
    std::string result(pattern.substr(0, dot));
    result.append(".r%r").append(pattern.substr(dot));
    return result;
}

}  // namespace gradcoll
