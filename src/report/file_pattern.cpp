#include "report/file_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradcoll {
namespace {

std::string as_file_name(std::string text) {
    std::replace(text.begin(), text.end(), '/', '_');
    return text;
}

}  // namespace

ExpandedPattern expand_pattern(std::string_view pattern, const PatternFacts& facts) {
    ExpandedPattern expanded;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            expanded.path += pattern[i];
            continue;
        }
        const char what = i + 1 < pattern.size() ? pattern[++i] : '\0';
        switch (what) {
            case '%':
                expanded.path += '%';
                break;
            case 'h':
                expanded.path += as_file_name(facts.host);
                break;
            case 'p':
                expanded.path += fmt::format("{}", facts.process_id);
                expanded.has_process = true;
                break;
            case 'r':
                expanded.path += fmt::format("{}", facts.rank);
                expanded.has_rank = true;
                break;
            default: {
                std::string literal = "%";
                if (what != '\0') literal += what;
                expanded.path += literal;
                expanded.complaints.push_back(fmt::format(
                    "{} means nothing in a file name and stays as it is; known are %h (host), %p "
                    "(process id), %r (rank) and %% (a percent sign)",
                    literal));
            }
        }
    }
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
