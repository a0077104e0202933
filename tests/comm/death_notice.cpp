// tests/comm/death_notice.cpp - the last rank dies, and only rank 1 can look at its process: all
// others hear of it. Prints lines as tests/faults/survivors.c does, for tests/faults/survive.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <vector>

#include "base/clock.hpp"
#include "comm/comm_watch.hpp"
#include "comm/known_processes.hpp"

int main(int argc, char** argv) {
    using namespace gradcoll;
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    auto names = processes_of(MPI_COMM_WORLD, {}, false);
    if (!names.ok()) return 1;
    if (rank != 1) names->back().numbering += 1;
    CommWatch watch(MPI_COMM_WORLD, rank, *names);
    fmt::print("rank {} begins\n", rank);
    std::fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::uint64_t death_ns = now_ns();
    if (rank == ranks - 1) raise(SIGKILL);
    while (!watch.has_fault() && now_ns() - death_ns < 10'000'000'000) {
        watch.look();
        usleep(1000);
    }
    const int class_of_error = watch.fault().ok() ? 0 : 1;
    fmt::print("survivor {}: {:.3f} s, class {}, again {} in 0 s: {}\n", rank,
               seconds_of(now_ns() - death_ns), class_of_error, class_of_error,
               watch.fault().message());
    std::fflush(stdout);
    usleep(200'000);  // what was told has left
    _exit(0);
}
