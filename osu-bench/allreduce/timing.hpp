// timing.hpp - measures how long collective calls take, ours and the peer's in turns.
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "start_line.hpp"

namespace gradcoll::bench {

/// A Latency is made of each rank's average time in the calls of a batch: the average, minimum and
/// maximum of it over the ranks, and of each the median over the batches.
struct Latency {
    double avg_us = 0;
    double min_us = 0;
    double max_us = 0;
};

struct Timed {
    std::function<void()> prepare;  ///< before every call, not timed; may be empty
    std::function<void()> call;
};

/// Turns describes one repeat: after the warm-up calls of both, batches of ours and of the peer
/// take turns until each has had its iterations. In short batches both see the same state of the
/// machine; the caller swaps the order from repeat to repeat, so that neither always runs on the
/// other's caches.
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

/// Times both. Collective; the same result on every rank.
Pair time_in_turns(const Timed& ours, const Timed& peer, const Turns& turns, MPI_Comm comm);

/// Returns the median of each member on its own.
Latency median(const std::vector<Latency>& latencies);

}  // namespace gradcoll::bench
