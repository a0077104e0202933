// topology/sources/cluster/probe_slices.hpp - measures the tree between hosts a little at a time,
// between other things that the ranks do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "fabric/switch_tree.hpp"
#include "topology/probe/measured_switches.hpp"
#include "topology/probe/slow_ruler.hpp"
#include "topology/sources/cluster/probe.hpp"
#include "topology/sources/cluster/probe_ruler.hpp"

namespace gradcoll {

/// ProbeSlices measures the tree in slices. All ranks of a communicator make one, and measure in
/// the same order.
class ProbeSlices {
  public:
    /// Makes the object. Collective. `hosts` as for probe_switches(), the same on all ranks, with
    /// different names; one of them has rank 0. Errors: those of MPI.
    static Result<std::unique_ptr<ProbeSlices>> make(MPI_Comm comm, std::vector<ProbeHost> hosts);

    /// A Slice is the same on all ranks.
    struct Slice {
        std::uint64_t took_ns = 0;         ///< rank 0's time
        std::optional<SwitchTree> tree{};  ///< set if this was the last slice; hosts by name
        bool disturbed = false;  ///< the last slice is over, but hosts were too busy to measure
    };
    /// Runs the measurement for about this long, at least one round: a few milliseconds. After the
    /// last slice it starts again. Collective. Errors: those of MPI, and of what rank 0 made of the
    /// figures.
    Result<Slice> measure(std::uint64_t allowed_ns);

  private:
    ProbeSlices(OwnedComm comm, int rank, std::vector<ProbeHost> hosts);
    Result<MeasuredTree> on_rank_0(std::uint64_t allowed_ns);
    void begin_anew();

    OwnedComm comm_;
    int rank_;
    std::vector<ProbeHost> hosts_;
    bool measures_ = false;
    // Only rank 0 has these:
    std::vector<std::string> names_;
    std::unique_ptr<MpiRuler> ruler_;
    std::unique_ptr<SlowRuler> slow_;
};

}  // namespace gradcoll
