// start_line.cpp - makes clocks agree, and waits for an agreed time.
#include "start_line.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <limits>

namespace gradcoll::bench {
namespace {

constexpr int round_trips = 10;
constexpr int clock_tag = 1;
constexpr double lead_in_windows = 2;

struct NamedSync {
    std::string_view name;
    Sync sync;
    std::string_view meaning;
};
constexpr std::array syncs = {
    NamedSync{"none", Sync::none, "batches of calls back to back after one barrier"},
    NamedSync{"barrier", Sync::barrier, "MPI_Barrier before every call, outside the timing"},
    NamedSync{"window", Sync::window, "every call starts at an agreed time"},
};

const NamedSync& entry_of(Sync sync) {
    return *std::find_if(syncs.begin(), syncs.end(), [&](const auto& s) { return s.sync == sync; });
}

void answer_with_clock(int rank, MPI_Comm comm) {
    for (int i = 0; i < round_trips; ++i) {
        char question = 0;
        MPI_Recv(&question, 1, MPI_CHAR, rank, clock_tag, comm, MPI_STATUS_IGNORE);
        const double now = MPI_Wtime();
        MPI_Send(&now, 1, MPI_DOUBLE, rank, clock_tag, comm);
    }
}

// Returns what must be added to a time of rank 0 to have it on this rank's clock.
double ask_for_offset(MPI_Comm comm) {
    double fastest = std::numeric_limits<double>::infinity();
    double offset = 0;
    for (int i = 0; i < round_trips; ++i) {
        const char question = 0;
        double theirs = 0;
        const double before = MPI_Wtime();
        MPI_Send(&question, 1, MPI_CHAR, 0, clock_tag, comm);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, 0, clock_tag, comm, MPI_STATUS_IGNORE);
        const double after = MPI_Wtime();
        if (after - before < fastest) {
            fastest = after - before;
            offset = (before + after) / 2 - theirs;
        }
    }
    return offset;
}

double offset_to_root(MPI_Comm comm) {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    double offset = 0;
    for (int other = 1; other < ranks; ++other) {
        if (rank == 0) {
            answer_with_clock(other, comm);
        } else if (rank == other) {
            offset = ask_for_offset(comm);
        }
    }
    return offset;
}

}  // namespace

std::optional<Sync> find_sync(std::string_view name) {
    for (const NamedSync& one : syncs) {
        if (one.name == name) {
            return one.sync;
        }
    }
    return std::nullopt;
}

std::string_view name_of(Sync sync) {
    return entry_of(sync).name;
}

std::vector<std::string> sync_names() {
    std::vector<std::string> names;
    for (const NamedSync& one : syncs) {
        names.emplace_back(one.name);
    }
    return names;
}

std::string_view meaning_of(Sync sync) {
    return entry_of(sync).meaning;
}

StartLine::StartLine(double window_s, MPI_Comm comm) : window_s_(window_s) {
    const double offset = offset_to_root(comm);
    double start = MPI_Wtime() + lead_in_windows * window_s;
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, comm);
    next_s_ = start + offset;
}

double StartLine::wait_for_next() {
    double now = MPI_Wtime();
    while (now < next_s_) {
        sched_yield();
        now = MPI_Wtime();
    }
    next_s_ += window_s_;
    return now;
}

}  // namespace gradcoll::bench
