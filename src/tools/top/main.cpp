// gradcoll top - shows again and again what the ranks of this host have counted, until it is
// interrupted.
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "jobs.hpp"
#include "options.hpp"
#include "screen.hpp"

namespace gradcoll::top {
namespace {

using Clock = std::chrono::steady_clock;

void sleep_s(double seconds) {
    timespec left{};
    left.tv_sec = static_cast<time_t>(seconds);
    left.tv_nsec = static_cast<long>((seconds - static_cast<double>(left.tv_sec)) * 1e9);
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/// Shows a screen; clears the terminal first, unless there is only one.
void show(const std::string& text, bool clears) {
    constexpr const char* home_and_clear = "\x1b[H\x1b[2J";
    if (clears) std::fputs(home_and_clear, stdout);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

int run(const Options& options) {
    auto before = look(options.folder);
    auto then = Clock::now();
    for (int shown = 0; options.screens == 0 || shown < options.screens; ++shown) {
        sleep_s(options.interval_s);
        auto after = look(options.folder);
        const auto now = Clock::now();
        const double seconds = std::chrono::duration<double>(now - then).count();
        show(screen_of(jobs_between(before, after), seconds, options.most_ranks),
             options.screens != 1);
        before = std::move(after);
        then = now;
    }
    return 0;
}

int run_command_line(int argc, char** argv) {
    const CommandLine line = parse_command_line(argc, argv);
    if (line.run) return run(line.options);
    print(line);
    return line.exit_status;
}

}  // namespace
}  // namespace gradcoll::top

int main(int argc, char** argv) {
    return gradcoll::guarded("gradcoll top", gradcoll::top::run_command_line, argc, argv);
}
