// topology/sources/cluster/probe_meter.hpp - one pair of ranks at work: round trips of small
// messages, and a train of long ones.
#pragma once

#include <cstdint>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"

namespace gradcoll {

/// Completes a request while leaving the core to others: looks, then sleeps for 0.1 ms. For whoever
/// waits while others measure.
Status wait_gently(MPI_Request& request);

/// Both ranks of a pair call the matching two functions with each other's rank. `comm` returns
/// errors. Not thread safe. Errors: those of MPI.
class ProbeMeter {
  public:
    explicit ProbeMeter(MPI_Comm comm) : comm_(comm) {}

    /// The shortest of up to 64 round trips, halved, in microseconds; at least eight of them, else
    /// no more than fit into 4 ms.
    Result<double> ping(int peer) const;
    Status answer_pings(int peer) const;

    /// Nanoseconds a byte. The sender takes the shortest time of three messages and their answers,
    /// with larger ones (16 KiB to 16 MiB) until that is 5 ms. A rank that loses its core meanwhile
    /// makes a time longer, never shorter.
    Result<double> send_bulk(int peer);
    /// Nanoseconds a byte. The sender sends for 30 ms.
    Result<double> send_stream(int peer);
    /// Of either.
    Status receive_messages(int peer);

  private:
    struct Announcement;

    Status send_messages(int peer, const Announcement& announced);
    /// The shortest of three messages with their answers. Nanoseconds.
    Result<std::uint64_t> send_three(int peer, std::int32_t bytes);

    MPI_Comm comm_;
    std::vector<char> buffer_;
};

}  // namespace gradcoll
