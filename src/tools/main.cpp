// gradcoll - one command for all that people ask the library, its plans, machines and jobs.
#include "command_line/commands.hpp"

namespace {

constexpr gradcoll::Command commands[] = {
    {"info", "what the library is, can do, is set to, and would do with a call"},
    {"plan", "what would be planned for a machine that is not here"},
    {"move", "what leaves a device in a training step, and when it comes back"},
    {"simulate", "plans in SimGrid beside its own algorithms", "SimGrid (GRADCOLL_SIMGRID)"},
    {"tune", "measures this machine, for GC_TUNING_FILE"},
    {"top", "what the ranks on this host do that run with GC_TOP=on"},
    {"trace", "lays the traces of ranks (GC_TRACE) side by side in one file"},
};

constexpr gradcoll::Front front = {"gradcoll", "Answers what people ask of Gradcoll.", commands};

int body(int argc, char** argv) {
    return run_command(front, argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
    return gradcoll::guarded("gradcoll", body, argc, argv);
}
