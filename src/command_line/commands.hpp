// command_line/commands.hpp - a program whose first word names what it does: "gradcoll plan". Each
// command is a program of its own, so that none links what another needs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "command_line/command_line.hpp"

namespace gradcoll {

/// The program of a command is called FRONT-NAME, and lies where GradcollModule.cmake puts it.
struct Command {
    std::string_view name;
    std::string_view what;        ///< in one line, for --help
    std::string_view needs = {};  ///< what a build that lacks it was made without; empty: nothing
};

struct Front {
    std::string_view name;
    std::string_view about;
    std::span<const Command> commands;
};

/// `command` means something only where it is to run.
struct ChosenCommand : Ending {
    const Command* command = nullptr;
};

/// Finds the command that the words name, or what there is to say instead. It is pure.
ChosenCommand choose_command(const Front& front, int argc, const char* const* argv);

/// Becomes the command's program, which gets the words behind its name. It returns an exit status
/// where there is no such program.
int run_command(const Front& front, int argc, char** argv);

}  // namespace gradcoll
