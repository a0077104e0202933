// topology/sources/cluster/probe_meter.hpp - one pair of ranks at work: round trips of small
// messages, and a train of long ones.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// Completes a request while leaving the core to others: looks, then sleeps for 0.05 ms. For
/// whoever waits while others measure.
Status wait_gently(MPI_Request& request);

/// How long a pair measures.
struct MeterTimes {
    int least_pings = 8;
    std::uint64_t pings_ns = 4'000'000;
    std::uint64_t lead_in_ns = 3'000'000;  ///< of a flow: fills queues, empties token buckets
    std::uint64_t bulk_ns = 10'000'000;    ///< what is counted, after that
    std::uint64_t stream_ns = 30'000'000;

    static MeterTimes of(ProbeEffort effort);
};

/// Both ranks of a pair call the matching two functions with each other's rank. `comm` returns
/// errors. Not thread safe. Errors: those of MPI.
class ProbeMeter {
  public:
    ProbeMeter(MPI_Comm comm, ProbeEffort effort) : comm_(comm), times_(MeterTimes::of(effort)) {}

    /// The shortest of up to 64 round trips, halved, in microseconds; no more than fit into the
    /// time for them, but a few.
    Result<double> ping(int peer) const;
    Status answer_pings(int peer) const;

    /// Nanoseconds a byte of a flow of messages, two of them under way, each answered. They grow
    /// from 16 KiB to 1 MiB while their answers come fast. A rank that loses its core meanwhile
    /// makes the time longer, hardly ever shorter.
    Result<double> send_bulk(int peer) { return send_flow(peer, times_.bulk_ns); }
    Result<double> send_stream(int peer) { return send_flow(peer, times_.stream_ns); }
    /// Of either.
    Status receive_flow(int peer);

  private:
    Result<double> send_flow(int peer, std::uint64_t counted_ns);

    MPI_Comm comm_;
    MeterTimes times_;
    std::vector<char> buffer_;
};

}  // namespace gradcoll
