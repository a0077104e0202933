// transport/routed/routed_lane.hpp - one lane for two ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/routed/routed_channel.hpp"

namespace gradcoll {

class RoutedLane final : public Lane {
  public:
    /// Both lanes have room for `capacity` messages: either may get all of them.
    RoutedLane(const RoutedChannel& channel, std::unique_ptr<Lane> inside,
               std::unique_ptr<Lane> between, std::size_t capacity);

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    void cut_messages(std::vector<int> peers) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    std::size_t in_flight() const override { return inside_->in_flight() + between_->in_flight(); }
    void abandon() override;

  private:
    Status admit(int peer, int tag) const;
    Status let_mpi_progress();

    const RoutedChannel& channel_;
    std::unique_ptr<Lane> inside_;   ///< the host
    std::unique_ptr<Lane> between_;  ///< hosts
    std::size_t capacity_;
    bool between_first_ = false;  ///< in the next poll: neither starves where there is little room
    unsigned idle_polls_ = 0;     ///< without any message between hosts
};

}  // namespace gradcoll
