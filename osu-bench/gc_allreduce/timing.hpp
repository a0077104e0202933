// timing.hpp - how long a collective call takes, as the OSU benchmarks define it.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

namespace gradcoll::bench {

/// Every rank averages its own time in the calls; these are the average, minimum and maximum of
/// that over the ranks.
struct Latency {
    double avg_us = 0;
    double min_us = 0;
    double max_us = 0;
};

struct Timed {
    std::function<void()> prepare;  ///< before every call, not timed
    std::function<void()> call;
};

/// Collective. A barrier precedes every call, outside the timing. The same result on every rank.
Latency time_calls(const Timed& timed, int warmup, int iterations, MPI_Comm comm);

double median(std::vector<double> values);
/// Each member's median on its own.
Latency median(const std::vector<Latency>& latencies);

}  // namespace gradcoll::bench
