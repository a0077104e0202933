// transport/routed/routed_lane.hpp - one lane for all ways: a message takes that of its peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

class RoutedLane final : public Lane {
  public:
    struct Ways {
        std::unique_ptr<Lane> inside;    ///< the host
        std::unique_ptr<Lane> between;   ///< hosts
        const std::vector<int>& places;  ///< by rank: its number on the host; -1: on another
        MPI_Comm comm;                   ///< what `between` uses
    };

    /// Both lanes have room for `capacity` messages: either may get all of them.
    RoutedLane(const Channel& channel, Ways ways, std::size_t capacity);

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    void cut_messages(std::vector<int> peers) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    std::size_t in_flight() const override {
        return ways_.inside->in_flight() + ways_.between->in_flight();
    }
    void abandon() override;

  private:
    Status admit(int peer, int tag) const;
    int place_of(int peer) const { return ways_.places[static_cast<std::size_t>(peer)]; }
    Status let_mpi_progress();

    const Channel& channel_;
    Ways ways_;
    std::size_t capacity_;
    bool between_first_ = false;  ///< in the next poll: neither starves where there is little room
    unsigned idle_polls_ = 0;     ///< without any message between hosts
};

}  // namespace gradcoll
