#include "fifo_channel.hpp"

namespace gradcoll::fifo {
namespace {

class FifoLane final : public Lane {
  public:
    FifoLane(Traffic& traffic, const Channel& channel, std::size_t capacity)
        : traffic_(traffic), channel_(channel), capacity_(capacity) {
        finished_.done.reserve(capacity);
        traffic_.lane_opened(capacity);
    }
    ~FifoLane() override { traffic_.lane_closed(finished_, capacity_); }
    FifoLane(const FifoLane&) = delete;
    FifoLane& operator=(const FifoLane&) = delete;

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        GRADCOLL_TRY(admit(peer, tag));
        Traffic::Send send;
        send.lane = &finished_;
        send.header.tag = tag;
        send.header.size_bytes = size_bytes;
        send.data = static_cast<const std::byte*>(data);
        send.cookie = cookie;
        return traffic_.start_send(peer, std::move(send));
    }

    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        GRADCOLL_TRY(admit(peer, tag));
        return traffic_.start_recv(
            {&finished_, static_cast<std::byte*>(data), size_bytes, cookie, peer, tag});
    }

    Result<std::size_t> poll(std::span<Completion> out) override {
        return traffic_.poll(finished_, out);
    }
    std::size_t in_flight() const override { return traffic_.in_flight(finished_); }
    void abandon() override { traffic_.abandon(finished_); }

  private:
    Status admit(int peer, int tag) const {
        if (in_flight() == capacity_) return lane_full(capacity_);
        return check_envelope(channel_, peer, tag);
    }

    Traffic& traffic_;
    const Channel& channel_;
    std::size_t capacity_;
    Finished finished_;
};

}  // namespace

std::unique_ptr<Lane> FifoChannel::open_lane(std::size_t capacity) {
    return std::make_unique<FifoLane>(traffic_, *this, capacity);
}

}  // namespace gradcoll::fifo
