// gc_plan/move/options.hpp - what the command line of `gc_plan move` may say.
#pragma once

#include <cstdint>
#include <string>

#include "mover/plan/gaps.hpp"
#include "tools/command_line/command_line.hpp"

namespace gc_plan::move {

enum class Mode { plan, smallest, check, validate };

struct Options {
    Mode mode = Mode::plan;
    std::string model, parallel, cluster;  ///< files, or key=value,...
    std::int64_t device_bytes = 0;         ///< 0: the cluster's
    gradcoll::mover::MovableKinds kinds;
    std::string out;   ///< a file for the plan; empty: none
    std::string plan;  ///< a file with a plan to check
};

gradcoll::CommandLine<Options> parse_command_line(int argc, const char* const* argv);

}  // namespace gc_plan::move
