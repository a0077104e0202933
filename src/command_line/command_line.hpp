// command_line/command_line.hpp - the result of reading a program's command line, and how the
// program ends; shared by all tools and benchmarks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gradcoll {

inline constexpr int usage_error = 2;

/// A Problem says what is wrong, in one line; nothing if all is well.
using Problem = std::optional<std::string>;

/// An Ending says whether to run, or with which exit status to end (0 after --help and --version,
/// usage_error after an error) and what to print first.
struct Ending {
    bool run = true;
    int exit_status = 0;
    std::string text;
};

/// A CommandLine has `options` that are valid only if the program is to run.
template <class Options>
struct CommandLine : Ending {
    Options options;
};

/// Prints the text to stdout, or to stderr if it reports an error.
void print(const Ending& ending);

/// Returns the exit status of a program's body; 1 after an exception, which is printed with the
/// program's name.
int guarded(const char* name, int (*body)(int argc, char** argv), int argc, char** argv) noexcept;

/// Writes a file; the problem names the option that named the file.
Problem write_file(std::string_view option, const std::string& path, const std::string& text);

}  // namespace gradcoll
