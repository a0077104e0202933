// ways/learn/link_timing.hpp - what the first long calls tell of links between hosts whose rates
// nobody knows.
#pragma once

#include <cstdint>

#include "base/mpi/mpi.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Times a few long calls, then asks all ranks for the highest rate that one of them saw: who comes
/// last into a call waits for nobody. All ranks add the same calls.
class LinkTiming {
  public:
    /// The first one makes connections, and does not count.
    static constexpr int calls = 4;

    /// From the first call on. Answers how often a vector goes through the busiest link between
    /// hosts; 0: there is none.
    double begin(const Tree& tree);
    /// A call has ended, on whatever rank and however. True if it was the last.
    bool add(std::uint64_t vector_bytes, std::uint64_t elapsed_ns);
    /// After the last: the rate of the slowest link, in GB/s. Collective. Errors: transport.
    Result<double> agree(MPI_Comm comm) const;

  private:
    double links_passes_ = 0;
    int calls_ = 0;
    double gbytes_per_s_ = 0;  ///< the highest
};

/// The tree with this rate at all links between hosts.
Tree with_links_between_hosts(const Tree& tree, double gbytes_per_s);
/// The tree with this part of what it, or else `tuning`, says of each link between hosts.
Tree with_part_between_hosts(const Tree& tree, const Tuning& tuning, double part);

}  // namespace gradcoll
