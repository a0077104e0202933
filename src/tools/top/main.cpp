// gradcoll top - shows again and again what the ranks of this host have counted, until it is
// interrupted.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "command_line/command_line.hpp"
#include "command_line/option_parser.hpp"
#include "jobs.hpp"

namespace gradcoll::top {
namespace {

struct Options {
    std::string folder = "/dev/shm";
    double interval_s = 1;
    int screens = 0;  ///< 0: until it is interrupted
    int most_ranks = 32;
};

using CommandLine = gradcoll::CommandLine<Options>;

CommandLine parse_command_line(int argc, const char* const* argv) {
    constexpr double least_interval_s = 0.05;
    constexpr double most_interval_s = 3600;
    constexpr int most = 1'000'000;
    CommandLine line;
    Options& options = line.options;
    bool once = false;
    gradcoll::OptionParser app("Shows what the ranks on this host do that run with GC_TOP=on",
                               "gradcoll top");
    app.add_option("--folder", options.folder, "where they count: what GC_TOP names")
        ->type_name("FOLDER")
        ->capture_default_str();
    app.add_option("--interval", options.interval_s, "seconds between two screens")
        ->in_range(least_interval_s, most_interval_s)
        ->capture_default_str();
    auto* screens =
        app.add_option("--screens", options.screens, "end after so many")->in_range(1, most);
    app.add_flag("--once", once, "one screen, after one interval; nothing is cleared")
        ->excludes(screens);
    app.add_option("--ranks", options.most_ranks, "ranks of a job that have a line of their own")
        ->in_range(0, most)
        ->capture_default_str();
    app.footer(
        "Start the job with GC_TOP=on, then gradcoll top on each host that you want to see.");
    app.parse_into(line, argc, argv);
    if (once) options.screens = 1;
    return line;
}

using Clock = std::chrono::steady_clock;

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
        std::this_thread::sleep_for(std::chrono::duration<double>(options.interval_s));
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
