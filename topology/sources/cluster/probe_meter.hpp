// topology/sources/cluster/probe_meter.hpp - the measurement of one pair of ranks: round trips of
// small messages, and a flow of long ones.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// Completes a request while leaving the core to others: tests, then sleeps for 0.05 ms. Ranks use
/// it that wait while others measure.
Status wait_gently(MPI_Request& request);

/// MeterTimes says how long a pair measures.
struct MeterTimes {
    int least_pings = 8;
    std::uint64_t pings_ns = 4'000'000;
    std::uint64_t lead_in_ns = 3'000'000;  ///< start of a flow, not counted: fills queues, empties
                                           ///< token buckets
    std::uint64_t bulk_ns = 10'000'000;    ///< the counted part after that
    std::uint64_t stream_ns = 30'000'000;

    static MeterTimes of(ProbeEffort effort);
};

/// A ProbeMeter measures with one other rank: both ranks of a pair call the matching two functions
/// with each other's rank. `comm` returns errors. Not thread safe. Errors: those of MPI.
class ProbeMeter {
  public:
    ProbeMeter(MPI_Comm comm, ProbeEffort effort) : comm_(comm), times_(MeterTimes::of(effort)) {}

    /// Returns half of the shortest of up to 64 round trips, in microseconds; it makes as many as
    /// fit into the time for them, but at least a few.
    Result<double> ping(int peer) const;
    Status answer_pings(int peer) const;

    /// Returns the nanoseconds for each byte of a flow of messages, two of which are under way,
    /// each answered. They grow from 16 KiB to 1 MiB while their answers come fast. A rank that
    /// loses its core for a millisecond meanwhile makes the time longer, hardly ever shorter: then
    /// the figure is disturbed.
    Result<Measured> send_bulk(int peer) { return send_flow(peer, times_.bulk_ns); }
    Result<Measured> send_stream(int peer) { return send_flow(peer, times_.stream_ns); }
    /// Receives either kind of flow.
    Status receive_flow(int peer);

  private:
    Result<Measured> send_flow(int peer, std::uint64_t counted_ns);

    MPI_Comm comm_;
    MeterTimes times_;
    std::vector<char> buffer_;
};

}  // namespace gradcoll
