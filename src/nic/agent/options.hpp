// nic/agent/options.hpp - what the command line of gc_nicd may say.
#pragma once

#include <string>

#include "command_line/command_line.hpp"
#include "nic/agent/agent.hpp"

namespace gradcoll {

struct NicdOptions {
    std::string directory;  ///< folder of the socket; empty: that of GC_NIC=dir=...
    AgentOptions agent;
    bool background = false;
    bool status = false;
};

CommandLine<NicdOptions> parse_nicd_command_line(int argc, const char* const* argv);

}  // namespace gradcoll
