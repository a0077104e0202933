#include "report/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace gradcoll {
namespace {

std::string as_file_name(std::string text) {
    std::replace(text.begin(), text.end(), '/', '_');
    return text;
}

/// Puts what stands for a percent sign and `what` behind the path; 0: nothing follows the sign.
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

Status failed(const std::string& path, int error) {
    return {Code::io, fmt::format("{} cannot be written: {}", path, std::strerror(error))};
}

/// Writes all, or keeps the first error number.
class Writer {
  public:
    explicit Writer(std::FILE* file) : file_(file) {}
    void write(std::string_view text) {
        if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), file_) != text.size())
            error_ = errno;
    }
    int close() {
        if (std::fclose(file_) != 0 && error_ == 0) error_ = errno;
        return error_;
    }

  private:
    std::FILE* file_;
    int error_ = 0;
};

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

Status write_file(const std::string& path, const std::function<void(const TextSink&)>& produce) {
    const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
    std::FILE* file = std::fopen(temporary.c_str(), "we");
    if (file == nullptr) return failed(path, errno);
    Writer writer(file);
    produce([&](std::string_view text) { writer.write(text); });
    int error = writer.close();
    if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
    if (error == 0) return {};
    std::remove(temporary.c_str());
    return failed(path, error);
}

Status write_file(const std::string& path, std::string_view text) {
    return write_file(path, [&](const TextSink& sink) { sink(text); });
}

}  // namespace gradcoll
