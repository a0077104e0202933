// smpi_lane.hpp - the transport's channel over SMPI, so that the real executor runs in the
// simulation.
#pragma once

#include <memory>

#include "transport/channel.hpp"

namespace gradcoll::simulate {

/// SmpiChannel belongs to the calling rank of MPI_COMM_WORLD. Simulated ranks take turns: one that
/// polls without end would stop the clock, so a rank that has nothing to do calls block() on the
/// lane.
class SmpiChannel : public Channel {
  public:
    SmpiChannel();
    int rank() const override { return rank_; }
    int rank_count() const override { return rank_count_; }
    int tag_limit() const override;
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override;
    /// Lets simulated time pass until a message of the lane that was opened last completes.
    void block();

  private:
    class SmpiLane;
    int rank_ = 0;
    int rank_count_ = 1;
    SmpiLane* lane_ = nullptr;
};

}  // namespace gradcoll::simulate
