// start_line.hpp - says when the ranks start a timed call, which is the part of a measurement that
// is not the call.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradcoll::bench {

/// Sync says how starts are synchronised.
/// none: a batch of calls back to back after one barrier, timed as a whole (nccl-tests).
/// barrier: a barrier of the MPI library before every call, outside the timing (OSU).
/// window: every call starts at an agreed time on the clock of rank 0 (SKaMPI, ReproMPI).
enum class Sync { none, barrier, window };

std::optional<Sync> find_sync(std::string_view name);
std::string_view name_of(Sync sync);
std::vector<std::string> sync_names();
/// Returns one sentence for the table's head.
std::string_view meaning_of(Sync sync);

/// A StartLine holds the agreed starts of one batch under Sync::window. Waiting yields the core,
/// because ranks may outnumber cores.
class StartLine {
  public:
    /// Finds, from the fastest of some round trips (Cristian's algorithm), how far this rank's
    /// clock is from rank 0's. `window_s` is the time between two starts, the same on all ranks.
    /// Collective.
    StartLine(double window_s, MPI_Comm comm);
    /// Returns at the agreed time, or at once if this rank is late for it. The result is in seconds
    /// of MPI_Wtime.
    double wait_for_next();

  private:
    double window_s_;
    double next_s_;  ///< on this rank's clock
};

}  // namespace gradcoll::bench
