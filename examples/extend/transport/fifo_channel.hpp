// fifo_channel.hpp - connects the ranks of a host through named pipes.
#pragma once

#include <memory>
#include <vector>

#include "traffic.hpp"
#include "transport/channel.hpp"

namespace gradcoll::fifo {

/// A FifoChannel may have lanes of several threads at a time. abandon() withdraws messages whose
/// first byte has not left; the others still arrive, with the polls of other lanes.
class FifoChannel final : public Channel {
  public:
    /// `names` holds, by rank of the host, the ranks that messages use.
    FifoChannel(Pipes pipes, int rank, const std::vector<int>& names)
        : rank_(rank),
          rank_count_(static_cast<int>(names.size())),
          traffic_(std::move(pipes), names) {}

    int rank() const override { return rank_; }
    int rank_count() const override { return rank_count_; }
    int tag_limit() const override { return 0x7fffffff; }
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override;

  private:
    int rank_;
    int rank_count_;
    Traffic traffic_;
};

}  // namespace gradcoll::fifo
