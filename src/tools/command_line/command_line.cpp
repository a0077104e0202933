// tools/command_line/command_line.cpp - see command_line.hpp.
#include "tools/command_line/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "base/files.hpp"
#include "build_facts.hpp"

namespace gradcoll {
namespace {

/// One line, whatever the parser says.
std::string one_line(std::string text) {
    for (char& c : text)
        if (c == '\n') c = ' ';
    while (text.ends_with(' ')) text.pop_back();
    return text;
}

std::string version_text(const std::string& name) {
    const std::string revision = build_facts::revision;
    return fmt::format("{} of Gradcoll {}{}{}\n", name, build_facts::version,
                       revision.empty() ? "" : ", source ", revision);
}

Ending ending_of(CLI::App& app, int argc, const char* const* argv,
                 const std::function<Problem()>& read) {
    const std::string name = app.get_name();
    try {
        app.parse(argc, argv);
        if (const Problem problem = read())
            return {false, usage_error, fmt::format("{}: {}\n", name, *problem)};
    } catch (const CLI::CallForHelp&) {
        return {false, 0, app.help()};
    } catch (const CLI::CallForVersion& version) {
        return {false, 0, version.what()};
    } catch (const CLI::ParseError& error) {
        return {false, usage_error,
                fmt::format("{}: {}; {} --help shows how it is used\n", name,
                            one_line(error.what()), name)};
    }
    return {};
}

}  // namespace

void parse_into(Ending& line, CLI::App& app, int argc, const char* const* argv,
                const std::function<Problem()>& read) {
    app.set_version_flag("--version", [&app] { return version_text(app.get_name()); });
    line = ending_of(app, argc, argv, read);
}

void print(const Ending& ending) {
    std::fputs(ending.text.c_str(), ending.exit_status == 0 ? stdout : stderr);
}

int guarded(const char* name, int (*body)(int argc, char** argv), int argc, char** argv) noexcept {
    try {
        return body(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name, error.what());
    } catch (...) {
        std::fprintf(stderr, "%s: an unknown exception\n", name);
    }
    return 1;
}

Problem write_file(std::string_view option, const std::string& path, const std::string& text) {
    const Status status = write_file(path, text);
    if (status.ok()) return std::nullopt;
    return fmt::format("{} {}", option, status.message());
}

}  // namespace gradcoll
