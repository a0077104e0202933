// ways/learn/link_timing.hpp - what the first long calls tell of links between hosts whose rates
// nobody knows.
#pragma once

#include <cstdint>

#include "base/mpi/mpi.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"
#include "ways/learn/call_rates.hpp"

namespace gradcoll {

/// A LinkTiming times a few long calls, then asks all ranks for the highest rate that one of them
/// saw: whoever comes last into a call waits for nobody. If there were only calls that end apart,
/// it takes the lowest of the ranks' highest. All ranks add the same calls.
class LinkTiming {
  public:
    /// So many calls are timed. The first one makes connections, and does not count.
    static constexpr int calls = 4;

    /// Begins anew with the next call. Returns how often a vector goes through the busiest link
    /// between hosts; 0 if there is none.
    double begin(const Tree& tree);
    /// Adds a call that moved so many bytes of its vector. Returns true if it was the last.
    bool add(std::uint64_t wire_bytes, const LongCall& call);
    /// Returns the rate of the slowest link, in GB/s, after the last call. Collective. Errors:
    /// transport.
    Result<double> agree(MPI_Comm comm) const;

  private:
    double links_passes_ = 0;
    int calls_ = 0;
    double gbytes_per_s_ = 0;  ///< highest rate of this rank's calls that end together
    double apart_gbytes_per_s_ = 0;
};

/// Returns what agree() gives on links that carry what the tree says; 0 if it says nothing of them.
double rate_said_by(const Tree& tree);

/// Returns the tree with this rate at all links between hosts.
Tree with_links_between_hosts(const Tree& tree, double gbytes_per_s);
/// Returns the tree with this part of the rate that it, or else `tuning`, gives each link between
/// hosts.
Tree with_part_between_hosts(const Tree& tree, const Tuning& tuning, double part);

}  // namespace gradcoll
