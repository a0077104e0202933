// gradcoll tune - measures this machine, for GC_TUNING_FILE. It runs under mpirun, one rank on each
// core or more.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "collectives/predict/tuning_file/tuning_file.hpp"
#include "command_line/command_line.hpp"
#include "command_line/option_parser.hpp"
#include "measures.hpp"
#include "tools/progress/progress.hpp"

namespace gradcoll::tune {
namespace {

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

// These are the percentages of a pass's time.
constexpr double kernels_work = 40;
constexpr double packings_work = 10;
constexpr double links_work = 25;
constexpr double one_host_work = 25;

HostPlace place_of_this_rank() {
    MPI_Comm host = MPI_COMM_NULL;
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    HostPlace place;
    PMPI_Comm_rank(host, &place.rank);
    PMPI_Comm_size(host, &place.ranks);
    PMPI_Comm_free(&host);
    place.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    place.hosts = place.rank == 0 ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &place.hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(MPI_IN_PLACE, &place.cores, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    PMPI_Allreduce(MPI_IN_PLACE, &place.ranks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return place;
}

/// Measures everything once. `cores` holds as many ranks as have a core each; rank 0 is among them.
Status measure_once(const Options& options, const HostPlace& place, const Group& cores,
                    ProgressLine& progress, Tuning& tuning) {
    tuning.cores = place.cores;
    progress.begin("codecs and sums");
    GRADCOLL_TRY(measure_kernels(options, cores, tuning));
    progress.add(kernels_work);
    progress.begin("packing");
    GRADCOLL_TRY(measure_packings(options, cores, tuning));
    progress.add(packings_work);
    progress.begin("links");
    GRADCOLL_TRY(measure_links(options, MPI_COMM_WORLD, place, tuning));
    progress.add(links_work);
    progress.begin("shared memory");
    if (place.hosts == 1 && cores.size() > 1) measure_one_host(options, cores, tuning);
    progress.add(one_host_work);
    return {};
}

/// Makes the progress line, which only rank 0 shows.
ProgressLine progress_of(const Options& options) {
    const int rank = comm_rank(MPI_COMM_WORLD);
    const auto shown =
        options.progress ? ProgressLine::Shown::always : ProgressLine::Shown::on_terminal;
    return {"gradcoll tune",
            options.passes() * (kernels_work + packings_work + links_work + one_host_work),
            rank == 0 ? shown : ProgressLine::Shown::never};
}

Status measure(const Options& options, Tuning& tuning) {
    const HostPlace place = place_of_this_rank();
    const Group cores(MPI_COMM_WORLD, place.rank < place.cores);
    std::vector<Tuning> passes(static_cast<std::size_t>(options.passes()));
    ProgressLine progress = progress_of(options);
    for (Tuning& pass : passes) GRADCOLL_TRY(measure_once(options, place, cores, progress, pass));
    tuning = together(passes);
    return {};
}

Status report(const Options& options, const Tuning& tuning) {
    std::fputs(summary_of(tuning).c_str(), stdout);
    if (options.out.empty()) return {};
    const int ranks = comm_size(MPI_COMM_WORLD);
    const Problem problem = write_file(
        "--out", options.out, text_of(tuning, fmt::format("gradcoll tune, {} ranks", ranks)));
    return problem ? Status(Code::io, *problem) : Status();
}

int run(const Options& options) {
    const int rank = comm_rank(MPI_COMM_WORLD);
    Tuning tuning;
    Status status = measure(options, tuning);
    if (status.ok() && rank == 0) status = report(options, tuning);
    if (!status.ok()) fmt::print(stderr, "gradcoll tune: {}\n", status.message());
    return status.ok() ? 0 : 1;
}

int body(int argc, char** argv) {
    const CommandLine line = parse_command_line(argc, argv);
    if (!line.run) {
        print(line);
        return line.exit_status;
    }
    MPI_Init(&argc, &argv);
    const int status = run(line.options);
    MPI_Finalize();
    return status;
}

}  // namespace
}  // namespace gradcoll::tune

int main(int argc, char** argv) {
    return gradcoll::guarded("gradcoll tune", gradcoll::tune::body, argc, argv);
}
