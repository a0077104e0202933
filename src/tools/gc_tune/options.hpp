// gc_tune/options.hpp - what the command line may say.
#pragma once

#include <cstddef>
#include <string>

namespace gc_tune {

struct Options {
    std::string out;  ///< the tuning file; empty: only the summary
    bool quick = false;
    /// Of what is at work on a host at a time: where caches end is seen by then.
    std::size_t most_bytes() const { return std::size_t{quick ? 1U : 256U} << 20U; }
    double seconds_a_point() const { return quick ? 0.002 : 0.06; }
};

/// Either options to run with, or the exit status to leave with and what to print first.
struct CommandLine {
    Options options;
    bool run = true;
    int exit_status = 0;
    std::string text;
};

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace gc_tune
