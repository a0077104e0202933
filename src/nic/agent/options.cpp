#include "nic/agent/options.hpp"

#include <fmt/format.h>

#include "command_line/option_parser.hpp"
#include "nic/control.hpp"

namespace gradcoll {

CommandLine<NicdOptions> parse_nicd_command_line(int argc, const char* const* argv) {
    CommandLine<NicdOptions> line;
    OptionParser app("Carries the messages of this host's ranks to other hosts, for GC_NIC",
                     "gc_nicd");
    NicdOptions& options = line.options;
    app.add_option("--directory", options.directory,
                   "folder of the socket, instead of dir= in GC_NIC")
        ->type_name("FOLDER");
    app.add_option("--port", options.agent.port, "TCP port for agents of other hosts; 0: any")
        ->type_name("NUMBER");
    int idle_exit_s = 0;
    app.add_option("--idle-exit", idle_exit_s,
                   "end when no rank has been here for so many seconds; 0: never")
        ->type_name("SECONDS")
        ->in_range(0, 1000000);
    app.add_flag("--background", options.background,
                 "return when it is ready, and go on in the background; nothing to do if there is "
                 "an agent already");
    app.add_flag("--status", options.status, "ask the agent that is there how it is, in JSON");
    app.footer(fmt::format(
        "It speaks version {} of its protocol. docs/nic.md says how it is run, and what "
        "it promises.",
        nic_version));
    app.parse_into(line, argc, argv, [&]() -> Problem {
        if (options.status && options.background)
            return "--status and --background exclude each other";
        options.agent.idle_exit = std::chrono::seconds(idle_exit_s);
        return std::nullopt;
    });
    return line;
}

}  // namespace gradcoll
