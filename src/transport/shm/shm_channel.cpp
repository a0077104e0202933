#include "transport/shm/shm_channel.hpp"

#include <numeric>
#include <utility>

namespace gradcoll {
namespace {

/// The messages of one operation.
class ShmLane final : public Lane {
  public:
    ShmLane(ShmTraffic& traffic, const Channel& channel, std::size_t capacity)
        : traffic_(traffic), channel_(channel), capacity_(capacity), finished_(capacity) {
        traffic_.lane_opened(capacity);
    }

    ~ShmLane() override {
        ShmLane::abandon();
        traffic_.lane_closed(capacity_);
    }

    ShmLane(const ShmLane&) = delete;
    ShmLane& operator=(const ShmLane&) = delete;

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        GRADCOLL_TRY(admit(peer, tag));
        GRADCOLL_TRY(traffic_.start_send(
            {&finished_, static_cast<const std::byte*>(data), size_bytes, cookie, peer, tag}));
        ++started_;
        return {};
    }

    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        GRADCOLL_TRY(admit(peer, tag));
        GRADCOLL_TRY(traffic_.start_recv(
            {&finished_, static_cast<std::byte*>(data), size_bytes, cookie, peer, tag}));
        ++started_;
        return {};
    }

    Result<std::size_t> poll(std::span<Completion> out) override {
        if (started_ == 0) return std::size_t{0};
        Result<std::size_t> count = traffic_.poll(finished_, out);
        if (count.ok()) started_ -= *count;
        return count;
    }

    std::size_t in_flight() const override { return started_; }
    void abandon() override {
        if (started_ > 0) traffic_.abandon(finished_);
        started_ = 0;
    }

  private:
    Status admit(int peer, int tag) const {
        if (started_ == capacity_) return lane_full(capacity_);
        return check_envelope(channel_, peer, tag);
    }

    ShmTraffic& traffic_;
    const Channel& channel_;
    std::size_t capacity_;
    std::size_t started_ = 0;  ///< and not reported by poll(); of the lane's own thread
    FinishedMessages finished_;
};

}  // namespace

ShmChannel::ShmChannel(const ShmPlace& place, const ShmLayout& layout,
                       const std::vector<int>& rank_names, PeerMemory memory)
    : place_(place), traffic_(layout, place.rank, rank_names, std::move(memory)) {}

Result<std::unique_ptr<ShmChannel>> ShmChannel::make(const ShmPlace& place,
                                                     std::vector<int> rank_names,
                                                     PeerMemory memory) {
    const auto layout =
        GRADCOLL_VALUE(ShmLayout::make(place.memory, place.rank_count, place.bytes_a_rank));
    if (rank_names.empty()) {
        rank_names.resize(static_cast<std::size_t>(place.rank_count));
        std::iota(rank_names.begin(), rank_names.end(), 0);
    }
    return std::unique_ptr<ShmChannel>(
        new ShmChannel(place, layout, rank_names, std::move(memory)));
}

std::unique_ptr<Lane> ShmChannel::open_lane(std::size_t capacity) {
    return std::make_unique<ShmLane>(traffic_, *this, capacity);
}

}  // namespace gradcoll
