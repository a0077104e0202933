// gc_nicd - the NIC agent of a host: carries messages of its ranks to the agents of other hosts.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/options.hpp"
#include "command_line/command_line.hpp"
#include "command_line/option_parser.hpp"
#include "nic/agent/agent.hpp"
#include "nic/agent/background.hpp"
#include "nic/control.hpp"

namespace gradcoll {
namespace {

struct NicdOptions {
    std::string directory;  ///< folder of the socket; empty: that of GC_NIC=dir=...
    AgentOptions agent;
    bool background = false;
    bool status = false;
};

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

Status serve(NicDoor door, const NicdOptions& options) {
    Foreground foreground;
    if (options.background) foreground = GRADCOLL_VALUE(go_to_background());
    const std::unique_ptr<Agent> agent =
        GRADCOLL_VALUE(Agent::make(std::move(door), options.agent));
    if (options.background) GRADCOLL_TRY(leave_terminal());
    foreground.release();
    return agent->run();
}

Status run(const NicdOptions& options) {
    const std::string directory = nic_directory(
        options.directory.empty() ? option_text(OptionId::nic_dir) : options.directory);
    if (options.status) {
        const std::string text = GRADCOLL_VALUE(status_of_nic_agent(directory));
        std::fputs(text.c_str(), stdout);
        return {};
    }
    std::optional<NicDoor> door = GRADCOLL_VALUE(open_nic_door(directory));
    if (door) return serve(std::move(*door), options);
    if (options.background) return {};
    return {Code::io, fmt::format("{}: there is an agent already", directory)};
}

}  // namespace
}  // namespace gradcoll

int main(int argc, char** argv) {
    const auto line = gradcoll::parse_nicd_command_line(argc, argv);
    if (!line.run) {
        gradcoll::print(line);
        return line.exit_status;
    }
    const gradcoll::Status status = gradcoll::run(line.options);
    if (!status.ok()) fmt::print(stderr, "gc_nicd: {}\n", status.message());
    return status.ok() ? 0 : 1;
}
