// options.hpp - the command line of gradcoll simulate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/choose/policy.hpp"
#include "command_line/command_line.hpp"
#include "replay.hpp"
#include "topology/tree.hpp"

namespace gradcoll::simulate {

enum class Task : std::uint8_t { simulate, print_platform, print_hosts };

struct Options {
    Task task = Task::simulate;
    std::optional<Tree> tree;
    std::string platform_path;       ///< empty: made from the tree
    std::vector<std::string> hosts;  ///< by rank
    std::vector<std::int64_t> sizes_bytes;
    std::vector<std::string>
        algorithms;  ///< "ours", "executor", or of agreement_names() or rival_names()
    std::string codec_text = "exact";
    PolicyOptions policy;
    StepSpeeds speeds;
    Way way;
    bool verify = false;
    bool explain = false;
    std::vector<std::string> settings;
};

using CommandLine = gradcoll::CommandLine<Options>;
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace gradcoll::simulate
