// comm/comm_watch.hpp - which ranks of a communicator have died: processes of this host are looked
// at, and ranks tell those of other hosts what they have seen.
#pragma once

#include <poll.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/watched_process.hpp"
#include "transport/peer_watch.hpp"

namespace gradcoll {

/// A CommWatch looks at the processes of those ranks that this one can watch (WatchedProcess). Of
/// the others it learns by a notice: a message, with a tag of its own, of a rank that can.
class CommWatch final : public PeerWatch {
  public:
    /// Makes the watch of a private communicator, which must outlive its use. `names` has the
    /// process of each rank. Local.
    CommWatch(MPI_Comm comm, int rank, const std::vector<ProcessName>& names);

    void look() override;
    bool has_died(int rank) override;
    bool sees_all() const override { return sees_all_; }

  private:
    void look_alone();
    std::vector<int> look_at_processes();
    void tell_others(int dead);
    void hear();
    std::string have_died(std::vector<int> ranks) const;
    bool may_call_mpi() const;

    MPI_Comm comm_;
    int rank_;
    int rank_count_;
    int notice_tag_ = 0;  ///< 0: the MPI library has none to spare, and there are no notices
    bool all_threads_may_call_ = false;
    std::atomic_flag is_looked_at_;  ///< set by whoever looks
    std::vector<std::shared_ptr<const WatchedProcess>> processes_;
    std::vector<pollfd> descriptors_;  ///< one for each of processes_
    std::vector<int> watched_;         ///< their ranks
    bool sees_all_ = true;             ///< whether all other ranks can be watched
};

/// Returns how long a wait may outlive a dead rank, GC_FAULT_SECONDS; 0: nobody looks.
std::uint64_t fault_seconds();

}  // namespace gradcoll
