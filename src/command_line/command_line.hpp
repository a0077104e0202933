// command_line/command_line.hpp - what the command line of a program has become, and how the
// program ends: the same for all tools and benchmarks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gradcoll {

inline constexpr int usage_error = 2;

/// What is wrong, in one line, or nothing.
using Problem = std::optional<std::string>;

/// Whether to run, or the exit status to leave with (0 after --help and --version, usage_error
/// after an error) and what to print first.
struct Ending {
    bool run = true;
    int exit_status = 0;
    std::string text;
};

/// `options` mean something only where it is to run.
template <class Options>
struct CommandLine : Ending {
    Options options;
};

/// The text goes to stdout, or where it tells an error to stderr.
void print(const Ending& ending);

/// The exit status of a program's body; 1 after an exception, which is told under the program's
/// name.
int guarded(const char* name, int (*body)(int argc, char** argv), int argc, char** argv) noexcept;

/// Into a file; the problem names the option that named it.
Problem write_file(std::string_view option, const std::string& path, const std::string& text);

}  // namespace gradcoll
