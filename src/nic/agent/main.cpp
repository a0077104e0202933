// gc_nicd - the NIC agent of a host: carries messages of its ranks to the agents of other hosts.
#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "base/options.hpp"
#include "nic/agent/background.hpp"
#include "nic/agent/options.hpp"
#include "nic/ask.hpp"

namespace gradcoll {
namespace {

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
