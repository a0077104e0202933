// transport/routed/routed_channel.hpp - all ranks of a communicator: those of this host through
// shared memory, the others through MPI.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "transport/mpi/mpi_channel.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/shm_channel.hpp"

namespace gradcoll {

/// The one place that knows who is on which host. Lanes as those of ShmChannel and MpiChannel; a
/// poll of one looks after both, and lets the MPI library go on also while nothing of ours is with
/// it.
class RoutedChannel final : public Channel {
  public:
    /// Ranks of the host, in the order of their parts of the segment.
    struct Host {
        std::vector<int> ranks;  ///< of the communicator
        int own_place = 0;       ///< in `ranks`
        std::unique_ptr<SharedSegment> segment;
    };

    /// Local. `mpi`: of the whole communicator. Errors: invalid_argument for a segment that is too
    /// small.
    static Result<std::unique_ptr<RoutedChannel>> make(std::unique_ptr<MpiChannel> mpi, Host host,
                                                       PeerMemory memory);

    int rank() const override { return mpi_->rank(); }
    int rank_count() const override { return mpi_->rank_count(); }
    int tag_limit() const override { return mpi_->tag_limit(); }
    bool is_carried_by_mpi(int peer) const override { return place_of(peer) < 0; }
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override;

    /// The rank's place on this host; -1 for ranks elsewhere. In range only.
    int place_of(int rank) const { return places_[static_cast<std::size_t>(rank)]; }

  private:
    RoutedChannel(std::unique_ptr<MpiChannel> mpi, std::unique_ptr<SharedSegment> segment)
        : mpi_(std::move(mpi)), segment_(std::move(segment)) {}

    std::unique_ptr<MpiChannel> mpi_;
    std::unique_ptr<SharedSegment> segment_;
    std::unique_ptr<ShmChannel> shm_;
    std::vector<int> places_;  ///< by rank of the communicator
};

}  // namespace gradcoll
