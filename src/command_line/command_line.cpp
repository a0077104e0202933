// command_line/command_line.cpp - see command_line.hpp.
#include "command_line/command_line.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "base/files.hpp"

namespace gradcoll {

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
