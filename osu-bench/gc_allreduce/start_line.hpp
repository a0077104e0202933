// start_line.hpp - when the ranks start a timed call: the part of a measurement that is not the
// call.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradcoll::bench {

/// none: a batch of calls back to back after one barrier, timed as a whole (nccl-tests).
/// barrier: a barrier of the MPI library before every call, outside the timing (OSU).
/// window: every call starts at an agreed time on the clock of rank 0 (SKaMPI, ReproMPI).
enum class Sync { none, barrier, window };

std::optional<Sync> find_sync(std::string_view name);
std::string_view name_of(Sync sync);
std::vector<std::string> sync_names();
/// One sentence for the table's head.
std::string_view meaning_of(Sync sync);

/// The agreed starts of one batch under Sync::window. Waiting gives the core away, because ranks
/// may outnumber cores.
class StartLine {
  public:
    /// Collective. Learns how far this rank's clock is from rank 0's from the fastest of some round
    /// trips (Cristian's algorithm); `window_s`: the distance between two starts, the same on all
    /// ranks.
    StartLine(double window_s, MPI_Comm comm);
    /// Returns at the agreed time, or at once if this rank is late for it. In seconds of MPI_Wtime.
    double wait_for_next();

  private:
    double window_s_;
    double next_s_;  ///< on this rank's clock
};

}  // namespace gradcoll::bench
