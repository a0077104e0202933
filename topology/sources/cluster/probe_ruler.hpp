// topology/sources/cluster/probe_ruler.hpp - lets rank 0 order pairs of ranks to measure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "topology/probe/ruler.hpp"
#include "topology/sources/cluster/probe_meter.hpp"

namespace gradcoll {

/// An MpiRuler lives on rank 0 of `comm`, which returns errors. `ranks[i]` measures for host i; one
/// of them is rank 0 itself. The others are in obey_probe() meanwhile. After `limit_ns` it reports
/// that its time is spent.
class MpiRuler : public Ruler {
  public:
    MpiRuler(MPI_Comm comm, std::vector<int> ranks, ProbeEffort effort, std::uint64_t limit_ns);

    Result<std::vector<Measured>> measure(Signal signal, std::span<const HostPair> pairs) override;
    bool spent() const override;
    /// Ends obey_probe() on the others. Must be called once, whatever happened before.
    Status dismiss() const;

  private:
    Status give_orders(Signal signal, std::span<const HostPair> pairs) const;
    Status collect(std::span<const HostPair> pairs, std::vector<Measured>& figures) const;
    int rank_of(int host) const { return ranks_[static_cast<std::size_t>(host)]; }

    MPI_Comm comm_;
    std::vector<int> ranks_;
    std::uint64_t end_ns_;
    ProbeMeter meter_;
};

/// Executes rank 0's orders on the other ranks that measure, until rank 0 dismisses them. Waits
/// gently in between. `effort` is the ruler's. Errors: those of MPI.
Status obey_probe(MPI_Comm comm, ProbeEffort effort);

}  // namespace gradcoll
