// timing.hpp - how long collective calls take, ours and the peer's by turns.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "start_line.hpp"

namespace gradcoll::bench {

/// Every rank averages its own time in the calls of a batch; these are the average, minimum and
/// maximum of that over the ranks, and of those the median over the batches.
struct Latency {
    double avg_us = 0;
    double min_us = 0;
    double max_us = 0;
};

struct Timed {
    std::function<void()> prepare;  ///< before every call, not timed; may be empty
    std::function<void()> call;
};

/// One repeat: after the warm-up calls of both, batches of ours and of the peer take turns until
/// each has had its iterations. Short batches see the same machine; the caller swaps the order from
/// repeat to repeat, so that neither always runs on the other's caches.
struct Turns {
    int warmup = 0;
    int iterations = 1;
    int batch = 1;  ///< calls of one side before the other's turn
    Sync sync = Sync::none;
    bool peer_first = false;
};

struct Pair {
    Latency ours;
    Latency peer;
    double ratio() const { return peer.avg_us / ours.avg_us; }
};

/// Collective. The same result on every rank.
Pair time_in_turns(const Timed& ours, const Timed& peer, const Turns& turns, MPI_Comm comm);

/// Each member's median on its own.
Latency median(const std::vector<Latency>& latencies);

}  // namespace gradcoll::bench
