// move/options.hpp - the options of `gradcoll move`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "mover/plan/planner.hpp"

namespace gradcoll::move {

enum class Mode { plan, smallest, layers, check };

struct Options {
    Mode mode = Mode::plan;
    std::string model, parallel, cluster;  ///< files, or key=value,...
    std::string topology;                  ///< a tree for the cluster; empty: none
    std::int64_t device_bytes = 0;         ///< 0: the cluster's
    gradcoll::mover::Policy policy;
    std::vector<gradcoll::mover::Rule> rules;  ///< compared with each other, for smallest
    std::string out;                           ///< a file for the plan; empty: none
    std::string trace;                         ///< a file for Perfetto; empty: none
    std::string drawing;                       ///< a file for memory over time; empty: none
    std::string measured;                      ///< a trace of PyTorch's profiler; empty: none
    std::string plan;                          ///< a file with a plan to check
};

gradcoll::CommandLine<Options> parse_command_line(int argc, const char* const* argv);

}  // namespace gradcoll::move
