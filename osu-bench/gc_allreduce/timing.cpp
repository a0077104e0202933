// timing.cpp - the timing loop.
#include "timing.hpp"

#include <algorithm>

namespace gradcoll::bench {
namespace {

double seconds_in_calls(const Timed& timed, int calls, MPI_Comm comm) {
    double seconds = 0;
    for (int i = 0; i < calls; ++i) {
        timed.prepare();
        MPI_Barrier(comm);
        const double start = MPI_Wtime();
        timed.call();
        seconds += MPI_Wtime() - start;
    }
    return seconds;
}

double over_ranks(double value, MPI_Op op, MPI_Comm comm) {
    double result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, op, comm);
    return result;
}

double median_of(const std::vector<Latency>& latencies, double Latency::*member) {
    std::vector<double> values;
    for (const Latency& latency : latencies) {
        values.push_back(latency.*member);
    }
    return median(std::move(values));
}

}  // namespace

Latency time_calls(const Timed& timed, int warmup, int iterations, MPI_Comm comm) {
    seconds_in_calls(timed, warmup, comm);
    const double mine_us = seconds_in_calls(timed, iterations, comm) * 1e6 / iterations;
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    return {over_ranks(mine_us, MPI_SUM, comm) / ranks, over_ranks(mine_us, MPI_MIN, comm),
            over_ranks(mine_us, MPI_MAX, comm)};
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Latency median(const std::vector<Latency>& latencies) {
    return {median_of(latencies, &Latency::avg_us), median_of(latencies, &Latency::min_us),
            median_of(latencies, &Latency::max_us)};
}

}  // namespace gradcoll::bench
