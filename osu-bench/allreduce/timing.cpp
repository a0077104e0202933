// timing.cpp - the timing loops.
#include "timing.hpp"

#include <algorithm>

#include "summary.hpp"

namespace gradcoll::bench {
namespace {

// This leaves room for the slowest rank and for a late scheduler.
constexpr double window_per_call = 3;

std::vector<double> over_ranks(std::vector<double> values, MPI_Op op, MPI_Comm comm) {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, op,
                  comm);
    return values;
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

// Times a batch. The barrier lets the ranks start the batch together; the time between calls is
// part of the calls.
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
    const double slowest = over_ranks({seconds_in_one(timed)}, MPI_MAX, comm).front();
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

// Combines each batch over the ranks, then takes the median: a rank that loses its core for
// milliseconds spoils one batch, not the repeat.
Latency latency_of(const std::vector<double>& batch_us, MPI_Comm comm) {
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    const auto median_over = [&](MPI_Op op) {
        return spread_of(over_ranks(batch_us, op, comm)).median;
    };
    return {median_over(MPI_SUM) / ranks, median_over(MPI_MIN), median_over(MPI_MAX)};
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
    std::vector<double> first_us;
    std::vector<double> second_us;
    for (int done = 0; done < turns.iterations; done += turns.batch) {
        const int calls = std::min(turns.batch, turns.iterations - done);
        first_us.push_back(seconds_in_batch(first, calls, turns.sync, comm) * 1e6 / calls);
        second_us.push_back(seconds_in_batch(second, calls, turns.sync, comm) * 1e6 / calls);
    }
    const Latency of_first = latency_of(first_us, comm);
    const Latency of_second = latency_of(second_us, comm);
    return turns.peer_first ? Pair{of_second, of_first} : Pair{of_first, of_second};
}

Latency median(const std::vector<Latency>& latencies) {
    return {median_of(latencies, &Latency::avg_us), median_of(latencies, &Latency::min_us),
            median_of(latencies, &Latency::max_us)};
}

}  // namespace gradcoll::bench
