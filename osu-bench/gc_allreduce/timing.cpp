// timing.cpp - the timing loops.
#include "timing.hpp"

#include <algorithm>

#include "summary.hpp"

namespace gradcoll::bench {
namespace {

// Room for the slowest rank and for a scheduler that is late.
constexpr double window_per_call = 3;

double over_ranks(double value, MPI_Op op, MPI_Comm comm) {
    double result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, op, comm);
    return result;
}

void prepare(const Timed& timed) {
    if (timed.prepare) {
        timed.prepare();
    }
}

double seconds_in_one(const Timed& timed) {
    const double start = MPI_Wtime();
    timed.call();
    return MPI_Wtime() - start;
}

// The barrier lets the ranks start the batch together; what is between the calls is the calls' own.
double seconds_back_to_back(const Timed& timed, int calls, MPI_Comm comm) {
    MPI_Barrier(comm);
    if (!timed.prepare) {
        const double start = MPI_Wtime();
        for (int i = 0; i < calls; ++i) {
            timed.call();
        }
        return MPI_Wtime() - start;
    }
    double seconds = 0;
    for (int i = 0; i < calls; ++i) {
        timed.prepare();
        seconds += seconds_in_one(timed);
    }
    return seconds;
}

double seconds_after_barriers(const Timed& timed, int calls, MPI_Comm comm) {
    double seconds = 0;
    for (int i = 0; i < calls; ++i) {
        prepare(timed);
        MPI_Barrier(comm);
        seconds += seconds_in_one(timed);
    }
    return seconds;
}

double seconds_in_windows(const Timed& timed, int calls, MPI_Comm comm) {
    prepare(timed);
    MPI_Barrier(comm);
    const double slowest = over_ranks(seconds_in_one(timed), MPI_MAX, comm);
    StartLine line(window_per_call * slowest, comm);
    double seconds = 0;
    for (int i = 0; i < calls; ++i) {
        prepare(timed);
        const double start = line.wait_for_next();
        timed.call();
        seconds += MPI_Wtime() - start;
    }
    return seconds;
}

double seconds_in_batch(const Timed& timed, int calls, Sync sync, MPI_Comm comm) {
    switch (sync) {
        case Sync::barrier:
            return seconds_after_barriers(timed, calls, comm);
        case Sync::window:
            return seconds_in_windows(timed, calls, comm);
        case Sync::none:
            break;
    }
    return seconds_back_to_back(timed, calls, comm);
}

void warm_up(const Timed& timed, int calls) {
    for (int i = 0; i < calls; ++i) {
        prepare(timed);
        timed.call();
    }
}

Latency latency_of(double seconds, int calls, MPI_Comm comm) {
    const double mine_us = seconds * 1e6 / calls;
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    return {over_ranks(mine_us, MPI_SUM, comm) / ranks, over_ranks(mine_us, MPI_MIN, comm),
            over_ranks(mine_us, MPI_MAX, comm)};
}

double median_of(const std::vector<Latency>& latencies, double Latency::*member) {
    std::vector<double> values;
    for (const Latency& latency : latencies) {
        values.push_back(latency.*member);
    }
    return spread_of(std::move(values)).median;
}

}  // namespace

Pair time_in_turns(const Timed& ours, const Timed& peer, const Turns& turns, MPI_Comm comm) {
    const Timed& first = turns.peer_first ? peer : ours;
    const Timed& second = turns.peer_first ? ours : peer;
    warm_up(first, turns.warmup);
    warm_up(second, turns.warmup);
    double first_s = 0;
    double second_s = 0;
    for (int done = 0; done < turns.iterations; done += turns.batch) {
        const int calls = std::min(turns.batch, turns.iterations - done);
        first_s += seconds_in_batch(first, calls, turns.sync, comm);
        second_s += seconds_in_batch(second, calls, turns.sync, comm);
    }
    const Latency of_first = latency_of(first_s, turns.iterations, comm);
    const Latency of_second = latency_of(second_s, turns.iterations, comm);
    return turns.peer_first ? Pair{of_second, of_first} : Pair{of_first, of_second};
}

Latency median(const std::vector<Latency>& latencies) {
    return {median_of(latencies, &Latency::avg_us), median_of(latencies, &Latency::min_us),
            median_of(latencies, &Latency::max_us)};
}

}  // namespace gradcoll::bench
