#include "options.hpp"

#include "command_line/option_parser.hpp"

namespace gradcoll::top {

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

}  // namespace gradcoll::top
