// fifo_channel.hpp - the ranks of a host, through named pipes.
#pragma once

#include <memory>
#include <vector>

#include "traffic.hpp"
#include "transport/channel.hpp"

namespace gradcoll::fifo {

/// Lanes of several threads at a time are allowed. abandon() takes messages back whose first byte
/// has not left; the others arrive nevertheless, with the polls of other lanes.
class FifoChannel final : public Channel {
  public:
    /// `names`: by rank of the host, what messages call the ranks.
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
