// info/options.hpp - the options of the command line.
#pragma once

#include <cstdint>
#include <string>

#include "command_line/command_line.hpp"
#include "gradcoll/inspect.h"
#include "names.hpp"

namespace gradcoll::info {

enum class Mode { overview, settings, topology, explain };

struct Options {
    Mode mode = Mode::overview;
    bool json = false;
    std::string pattern = "*";  ///< for --settings
    GC_Tree_format tree_format = GC_TREE_TEXT;
    int ranks = 0;            ///< 0: not given
    std::string output_file;  ///< empty: standard output
    // for --topology --plan
    bool plan = false;
    std::uint64_t plan_count = 0;
    GC_Plan_format plan_format = GC_PLAN_TEXT;
    // for --explain; type and op also for --plan
    std::uint64_t size_bytes = 0;
    const TypeName* type = nullptr;
    const OpName* op = nullptr;
    std::string codec;  ///< empty: the codec of the settings
};

using CommandLine = gradcoll::CommandLine<Options>;

/// Reads the command line. Local and the same on every rank: the caller prints the text on one of
/// them.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace gradcoll::info
