// tune/options.hpp - the options of the command line.
#pragma once

#include <cstddef>
#include <string>

#include "command_line/command_line.hpp"

namespace gradcoll::tune {

struct Options {
    std::string out;  ///< the tuning file; empty: only the summary
    bool quick = false;
    bool progress = false;  ///< shown even if stderr is no terminal
    /// Returns the most bytes at work on a host at a time: by then the end of the caches shows.
    std::size_t most_bytes() const { return std::size_t{quick ? 1U : 256U} << 20U; }
    /// Returns how often everything is measured, so that no disturbance meets all measurements of a
    /// figure.
    int passes() const { return quick ? 1 : 3; }
    double seconds_a_point() const { return quick ? 0.002 : 0.02; }
};

using CommandLine = gradcoll::CommandLine<Options>;

}  // namespace gradcoll::tune
