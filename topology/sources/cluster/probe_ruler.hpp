// topology/sources/cluster/probe_ruler.hpp - rank 0 tells pairs of ranks to measure; these obey.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "topology/probe/ruler.hpp"
#include "topology/sources/cluster/probe_meter.hpp"

namespace gradcoll {

/// Lives on rank 0 of `comm`, which returns errors. `ranks[i]` measures for host i; one of them is
/// rank 0 itself. All others of them are in obey_probe() meanwhile. After `limit_ns` it says that
/// its time is spent.
class MpiRuler : public Ruler {
  public:
    MpiRuler(MPI_Comm comm, std::vector<int> ranks, ProbeEffort effort, std::uint64_t limit_ns);

    Result<std::vector<double>> measure(Signal signal, std::span<const HostPair> pairs) override;
    bool spent() const override;
    /// Lets the others go. To be called once, whatever happened before.
    Status dismiss() const;

  private:
    Status give_orders(Signal signal, std::span<const HostPair> pairs) const;
    Status collect(std::span<const HostPair> pairs, std::vector<double>& figures) const;
    int rank_of(int host) const { return ranks_[static_cast<std::size_t>(host)]; }

    MPI_Comm comm_;
    std::vector<int> ranks_;
    std::uint64_t end_ns_;
    ProbeMeter meter_;
};

/// On the other ranks that measure: does what rank 0 says until it lets them go. Waits gently in
/// between. `effort`: the ruler's. Errors: those of MPI.
Status obey_probe(MPI_Comm comm, ProbeEffort effort);

}  // namespace gradcoll
