// gradcoll info - shows what the library is, can do, is set to and would do. It starts MPI only if
// it must: for the tree of the ranks that run, and for explanations, which name MPI's own
// datatypes.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <limits>

#include "ask.hpp"
#include "base/text.hpp"
#include "facts.hpp"
#include "options.hpp"
#include "ranks.hpp"

namespace gradcoll::info {
namespace {

constexpr int failure = 1;

/// Launched says which process of how many this is, as its launcher sets it in the environment: it
/// is known before MPI_Init, and without it.
struct Launched {
    int rank = 0;
    int size = 1;
};

/// Names are variables that come together. If launchers are nested (mpirun in a job of Slurm), the
/// inner one comes first.
struct Names {
    const char* rank;
    const char* size;
};
constexpr Names launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                               {"PMI_RANK", "PMI_SIZE"},
                               {"SLURM_PROCID", "SLURM_NTASKS"}};

/// Returns -1 if the variable is not set or holds no number.
int number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return -1;
    const auto number = gradcoll::parse_integer(text, 0, std::numeric_limits<int>::max());
    return number.ok() ? static_cast<int>(*number) : -1;
}

/// Returns what mpirun, mpiexec (hydra) or srun says; a process that nobody launched is the only
/// one.
Launched launched() {
    for (const Names& names : launchers) {
        const Launched found{number_in(names.rank), number_in(names.size)};
        if (found.rank >= 0 && found.size > found.rank) return found;
    }
    return {};
}

/// Returns usage_error for bad values of arguments, variables and files, else failure.
int exit_status_of(const Refused& refused) {
    return refused.mpi_class == MPI_ERR_ARG || refused.mpi_class == MPI_ERR_IO ? usage_error
                                                                               : failure;
}

struct Answer {
    int exit_status = 0;
    std::string out;
    std::string err;
};

template <class Ask>
Answer answer_of(Ask&& ask) {
    try {
        return {0, ask(), {}};
    } catch (const Refused& refused) {
        return {exit_status_of(refused), {}, fmt::format("gradcoll info: {}\n", refused.what())};
    }
}

/// Writes the answer into the file that was asked for; the rest remains to be printed.
void write_file(const Options& options, Answer& answer) {
    if (options.output_file.empty() || answer.exit_status != 0) return;
    const auto problem = gradcoll::write_file("--output", options.output_file, answer.out);
    answer.out.clear();
    if (!problem) return;
    answer.exit_status = usage_error;
    answer.err += fmt::format("gradcoll info: {}\n", *problem);
}

/// Prints the answer; called on one rank.
void print(const Options& options, Answer& answer) {
    write_file(options, answer);
    std::fputs(answer.out.c_str(), stdout);
    std::fflush(stdout);
    std::fputs(answer.err.c_str(), stderr);
}

std::string answer_without_mpi(const Options& options) {
    if (options.mode == Mode::topology) return topology_of(Ranks::foreseen, options);
    if (options.mode == Mode::overview) return options.json ? overview_json() : overview_text();
    const auto rows = matching_settings(options.pattern);
    return options.json ? settings_json(rows) : settings_text(rows);
}

std::string answer_with_mpi(const Options& options, bool alone) {
    const Ranks ranks = alone ? Ranks::foreseen : Ranks::world;
    if (options.plan) return plan_of(ranks, options);
    return options.mode == Mode::topology ? topology_of(ranks, options)
                                          : explanation_of(ranks, options);
}

bool needs_mpi(const Options& options) {
    return options.mode == Mode::explain || options.plan ||
           (options.mode == Mode::topology && options.ranks == 0);
}

Answer ranks_refused(const Options& options, int size) {
    return {
        usage_error,
        {},
        fmt::format("gradcoll info: --ranks {}: here are {} ranks already; allowed is one process, "
                    "without mpirun\n",
                    options.ranks, size)};
}

/// Warns if the launcher started processes that MPI does not see: it belongs to another MPI.
std::string stranger_text(const Launched& launched) {
    if (launched.size == 1) return {};
    return fmt::format(
        "gradcoll info: the launcher started {} processes, but MPI sees one alone: is the launcher "
        "that of {}, for which this library was built?\n",
        launched.size, build().mpi_built);
}

int run_with_mpi(const Options& options, const Launched& launched) {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool alone = size == 1;
    Answer answer = options.ranks > 0 && !alone
                        ? ranks_refused(options, size)
                        : answer_of([&] { return answer_with_mpi(options, alone); });
    // Nothing else prints these warnings here: a communicator that is attached prints its own.
    if (alone) answer.err += ignored_text() + stranger_text(launched);
    if (alone ? launched.rank == 0 : rank == 0) print(options, answer);
    MPI_Finalize();
    return answer.exit_status;
}

int run_without_mpi(const Options& options, const Launched& launched) {
    Answer answer = options.ranks > 0 && launched.size > 1
                        ? ranks_refused(options, launched.size)
                        : answer_of([&] { return answer_without_mpi(options); });
    if (options.mode == Mode::topology) answer.err += ignored_text();
    if (launched.rank == 0) print(options, answer);
    return answer.exit_status;
}

int body(int argc, char** argv) {
    const Launched self = launched();
    const CommandLine line = parse_command_line(argc, argv);
    if (!line.run) {
        if (self.rank == 0) print(line);
        return line.exit_status;
    }
    return needs_mpi(line.options) ? run_with_mpi(line.options, self)
                                   : run_without_mpi(line.options, self);
}

}  // namespace
}  // namespace gradcoll::info

int main(int argc, char** argv) {
    return gradcoll::guarded("gradcoll info", gradcoll::info::body, argc, argv);
}
