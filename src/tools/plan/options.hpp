// plan/options.hpp - the options of the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collectives/choose/policy.hpp"
#include "collectives/plan/plan.hpp"
#include "command_line/command_line.hpp"
#include "topology/sources/job/foreseen.hpp"

namespace gradcoll::plan {

enum class Mode { check, draw, links, text, what_if };
enum class Drawing { text, json, dot };

struct Options {
    Mode mode = Mode::check;
    bool json = false;
    std::string tree;  ///< a value of GC_TOPOLOGY
    int ranks = 0;     ///< 0: as many as the tree names
    /// Describes a job on hosts other than this one; its `written` stays empty: `tree` has it.
    std::optional<gradcoll::ClusterSpec> cluster;
    Drawing drawing = Drawing::text;
    gradcoll::PlanSpec call;
    gradcoll::PolicyOptions policy;  ///< its tuning is the Subject's
    int check_ranks = 16;
    bool verify = false;  ///< prove all ranks' plans together, whatever their number
    std::int64_t seed = 1;
    int text_rank = 0;
    std::string tuning;  ///< a tuning file; empty: the shipped figures
    int top = 0;         ///< for --what-if: the number of rows; 0: all
};

using CommandLine = gradcoll::CommandLine<Options>;

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace gradcoll::plan
