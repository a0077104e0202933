// tune/options.cpp - the command line.
#include "options.hpp"

#include "command_line/option_parser.hpp"

namespace gradcoll::tune {

CommandLine parse_command_line(int argc, const char* const* argv) {
    CommandLine line;
    gradcoll::OptionParser app("Measures codecs, sums, links and shared memory, for GC_TUNING_FILE",
                               "gradcoll tune");
    app.add_option("-o,--out", line.options.out, "write the tuning into this file")
        ->type_name("FILE");
    app.add_flag("--quick", line.options.quick,
                 "a second instead of half a minute: shows that it works, measures badly");
    app.add_flag("--progress", line.options.progress,
                 "say how far it is even if stderr is no terminal, as under most launchers");
    app.footer(
        "Start it with one rank a core or more: mpirun -n 4 gradcoll tune --out tuning.json");
    app.parse_into(line, argc, argv);
    return line;
}

}  // namespace gradcoll::tune
