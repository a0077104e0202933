// transport/shm/shm_lane.hpp - the messages of one operation through shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/channel.hpp"

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

    /// A message of this lane has ended. Called with the traffic's lock held.
    void finish(Completion done) { done_.push_back(std::move(done)); }
    /// Hands out what has ended. Called with the traffic's lock held.
    std::size_t take_finished(std::span<Completion> out);
    void forget_finished() { done_.clear(); }

  private:
    Status admit(int peer, int tag) const;

    ShmTraffic& traffic_;
    const Channel& channel_;
    std::size_t capacity_;
    std::size_t started_ = 0;  ///< and not reported by poll(); of the lane's own thread
    std::vector<Completion> done_;
};

}  // namespace gradcoll
