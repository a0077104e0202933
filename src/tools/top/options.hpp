// top/options.hpp - the options of the command line.
#pragma once

#include <string>

#include "command_line/command_line.hpp"

namespace gradcoll::top {

struct Options {
    std::string folder = "/dev/shm";
    double interval_s = 1;
    int screens = 0;  ///< 0: until it is interrupted
    int most_ranks = 32;
};

using CommandLine = gradcoll::CommandLine<Options>;

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace gradcoll::top
