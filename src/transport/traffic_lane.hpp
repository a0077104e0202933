// transport/traffic_lane.hpp - a lane of a channel that moves the messages of all its lanes
// together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/channel.hpp"
#include "transport/finished_messages.hpp"

namespace gradcoll {

/// A TrafficLane uses a `Traffic` that has, thread safe: lane_opened(capacity) and
/// lane_closed(capacity); start_send and start_recv of a request; poll(lane, out), which moves what
/// can be moved and hands out what has ended of that lane; abandon(lane). One that encodes says
/// `encodes = true`, and gets requests with a codec, too. One that knows what its ranks wait for
/// has rest(lane, longest). It and the channel must outlive the lane.
template <class Traffic>
class TrafficLane final : public Lane {
  public:
    TrafficLane(Traffic& traffic, const Channel& channel, std::size_t capacity)
        : traffic_(traffic), channel_(channel), capacity_(capacity), finished_(capacity) {
        traffic_.lane_opened(capacity);
    }

    ~TrafficLane() override {
        TrafficLane::abandon();
        traffic_.lane_closed(capacity_);
    }

    TrafficLane(const TrafficLane&) = delete;
    TrafficLane& operator=(const TrafficLane&) = delete;

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

    Status start_coded_send(int peer, int tag, std::span<const ElementRun> runs, const Codec& codec,
                            std::uint32_t cookie) override {
        if constexpr (requires { Traffic::encodes; }) {
            GRADCOLL_TRY(admit(peer, tag));
            std::size_t size_bytes = 0;
            for (const ElementRun& run : runs) size_bytes += run.size_bytes;
            GRADCOLL_TRY(traffic_.start_send(
                {&finished_, nullptr, size_bytes, cookie, peer, tag, &codec, runs}));
            ++started_;
            return {};
        } else {
            return Lane::start_coded_send(peer, tag, runs, codec, cookie);
        }
    }

    Status start_coded_recv(int peer, int tag, const CodedRoom& room, const Codec& codec,
                            std::uint32_t cookie) override {
        if constexpr (requires { Traffic::encodes; }) {
            GRADCOLL_TRY(admit(peer, tag));
            GRADCOLL_TRY(traffic_.start_recv({&finished_,
                                              room.data,
                                              room.size_bytes,
                                              cookie,
                                              peer,
                                              tag,
                                              &codec,
                                              {},
                                              room.addend,
                                              room.exact,
                                              room.past_caches}));
            ++started_;
            return {};
        } else {
            return Lane::start_coded_recv(peer, tag, room, codec, cookie);
        }
    }

    Result<std::size_t> poll(std::span<Completion> out) override {
        if (started_ == 0) return std::size_t{0};
        Result<std::size_t> count = traffic_.poll(finished_, out);
        if (count.ok()) started_ -= *count;
        return count;
    }

    bool rest(std::chrono::microseconds longest) override {
        if constexpr (requires { traffic_.rest(finished_, longest); })
            return started_ > 0 && traffic_.rest(finished_, longest);
        else
            return Lane::rest(longest);
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

    Traffic& traffic_;
    const Channel& channel_;
    std::size_t capacity_;
    std::size_t started_ =
        0;  ///< messages that poll() has not reported; used by the lane's own thread
    FinishedMessages finished_;
};

}  // namespace gradcoll
