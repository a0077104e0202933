// transport/shm/shm_lane.hpp - the messages of one operation through shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/channel.hpp"
#include "transport/shm/finished_messages.hpp"

namespace gradcoll {

class ShmTraffic;

class ShmLane final : public Lane {
  public:
    ShmLane(ShmTraffic& traffic, const Channel& channel, std::size_t capacity);
    ~ShmLane() override;
    ShmLane(const ShmLane&) = delete;
    ShmLane& operator=(const ShmLane&) = delete;

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    std::size_t in_flight() const override { return started_; }
    void abandon() override;

  private:
    Status admit(int peer, int tag) const;

    ShmTraffic& traffic_;
    const Channel& channel_;
    std::size_t capacity_;
    std::size_t started_ = 0;  ///< and not reported by poll(); of the lane's own thread
    FinishedMessages finished_;
};

}  // namespace gradcoll
