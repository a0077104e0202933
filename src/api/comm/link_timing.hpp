// api/comm/link_timing.hpp - what the first long calls tell of links between hosts whose rates
// nobody knows.
#pragma once

#include <cstdint>

#include "base/mpi/mpi.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// Times a few long exact calls, as the plans that know no rates make them, then asks all ranks for
/// the highest rate that one of them saw: who comes last into a call waits for nobody. Then once
/// more, as plans that know the rate are faster. All ranks add the same calls.
class LinkTiming {
  public:
    /// The first call of a round makes connections, and does not count.
    static constexpr int calls_a_round = 4;
    static constexpr int rounds = 2;

    /// For a tree that was found, and has hosts without a rate. From the first round on.
    void begin(const Tree& tree);
    /// Nothing is timed any more: plans must stay as they are.
    void stop() { links_passes_ = 0; }
    bool is_on() const { return links_passes_ > 0; }

    /// A call has ended, on whatever rank and however. True if it was the last of a round.
    bool add(std::uint64_t vector_bytes, std::uint64_t elapsed_ns);
    /// After the last of a round: the rate of the slowest link, in GB/s. Collective. Errors:
    /// transport.
    Result<double> agree(MPI_Comm comm);

  private:
    double links_passes_ = 0;  ///< how often a vector goes through a link; 0: nothing is timed
    int calls_ = 0;
    int rounds_ = 0;
    double gbytes_per_s_ = 0;  ///< the highest of this round
};

/// The tree with this rate at all links between hosts.
Tree with_links_between_hosts(const Tree& tree, double gbytes_per_s);

}  // namespace gradcoll
