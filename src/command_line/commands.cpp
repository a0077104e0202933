// command_line/commands.cpp - see commands.hpp.
#include "command_line/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "command_line/option_parser.hpp"

namespace gradcoll {
namespace {

std::vector<std::string_view> names_of(std::span<const Command> commands) {
    std::vector<std::string_view> names;
    for (const Command& command : commands) names.push_back(command.name);
    return names;
}

std::string help_of(const Front& front) {
    std::string text = fmt::format(
        "{}\nUsage: {} COMMAND [OPTIONS]\n\nOptions:\n"
        "  -h,--help                   Print this help message and exit\n"
        "  --version                   Display program version information and exit\n\nCommands:\n",
        front.about, front.name);
    for (const Command& command : front.commands)
        text += fmt::format("  {:<11}{}\n", command.name, command.what);
    return text + fmt::format("\n{} COMMAND --help says more of each.\n", front.name);
}

/// Tells the problem, then the commands that there are.
Ending refused(const Front& front, std::string_view problem, std::string_view hint) {
    return {false, usage_error,
            fmt::format("{}: {}: {}{}\n", front.name, problem,
                        fmt::join(names_of(front.commands), ", "), hint)};
}

Ending unknown(const Front& front, std::string_view word) {
    const auto nearest = nearest_word(word, names_of(front.commands));
    return refused(front, fmt::format("no command is called '{}'", printable(word)),
                   nearest ? fmt::format("; did you mean {}?", *nearest) : std::string());
}

/// Finds the folder of commands from where this program lies.
std::filesystem::path folder_of_commands() {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    return (here / GRADCOLL_COMMANDS_FROM_BIN).lexically_normal();
}

}  // namespace

ChosenCommand choose_command(const Front& front, int argc, const char* const* argv) {
    if (argc < 2) return {refused(front, "a command is missing", ""), nullptr};
    const std::string_view word = argv[1];
    if (word == "-h" || word == "--help") return {{false, 0, help_of(front)}, nullptr};
    if (word == "--version") return {{false, 0, version_text(std::string(front.name))}, nullptr};
    for (const Command& command : front.commands)
        if (word == command.name) return {{}, &command};
    return {unknown(front, word), nullptr};
}

int run_command(const Front& front, int argc, char** argv) {
    const ChosenCommand chosen = choose_command(front, argc, argv);
    if (!chosen.run) {
        print(chosen);
        return chosen.exit_status;
    }
    std::string path =
        folder_of_commands() / fmt::format("{}-{}", front.name, chosen.command->name);
    argv[1] = path.data();  // lists of processes show it
    execv(path.c_str(), argv + 1);
    const int problem = errno;
    const bool absent = problem == ENOENT && !chosen.command->needs.empty();
    fmt::print(stderr, "{} {}: {}: {}{}\n", front.name, chosen.command->name, path,
               std::strerror(problem),
               absent ? fmt::format("; only builds with {} have it", chosen.command->needs) : "");
    return 1;
}

}  // namespace gradcoll
