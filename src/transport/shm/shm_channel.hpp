// transport/shm/shm_channel.hpp - bytes between ranks that share memory;
// src/transport/shm/README.md has the protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/channel.hpp"
#include "transport/shm/traffic.hpp"

namespace gradcoll {

/// Where GC_TRANSPORTS does not allow this transport, the library shares no memory for other
/// purposes either.
inline constexpr std::string_view shm_transport_name = "shm";

/// A ShmChannel allows lanes of several threads at a time. abandon() takes announced messages back:
/// their receivers get a transport error, or nothing if they had not met them. A message that left
/// in cells arrives nevertheless. Wrong words of a peer end the whole channel with an error that
/// names the peer, and all channels of the same memory with it.
class ShmChannel final : public Channel {
  public:
    /// Makes one of several channels in a memory: messages of one never meet receives of another.
    /// `group` is its number, the same on all ranks, and never used before in this memory. All
    /// ranks make it before one of them sends.
    ShmChannel(std::shared_ptr<ShmTraffic> traffic, std::uint16_t group);
    ~ShmChannel() override { messages_.traffic().close_group(messages_.group()); }
    ShmChannel(const ShmChannel&) = delete;
    ShmChannel& operator=(const ShmChannel&) = delete;

    int rank() const override { return messages_.traffic().rank(); }
    int rank_count() const override { return messages_.traffic().rank_count(); }
    int tag_limit() const override { return 0x7fffffff; }
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override;

  private:
    /// Messages are those of this channel, as its lanes want them (TrafficLane).
    class Messages {
      public:
        Messages(std::shared_ptr<ShmTraffic> traffic, std::uint16_t group)
            : traffic_(std::move(traffic)), group_(group) {}
        ShmTraffic& traffic() const { return *traffic_; }
        std::uint16_t group() const { return group_; }

        void lane_opened(std::size_t capacity) { traffic_->lane_opened(capacity); }
        void lane_closed(std::size_t capacity) { traffic_->lane_closed(capacity); }
        Status start_send(const SendRequest& request) {
            return traffic_->start_send(request, group_);
        }
        Status start_recv(const RecvRequest& request) {
            return traffic_->start_recv(request, group_);
        }
        Result<std::size_t> poll(FinishedMessages& lane, std::span<Completion> out) {
            return traffic_->poll(lane, out);
        }
        void abandon(FinishedMessages& lane) { traffic_->abandon(lane); }

      private:
        std::shared_ptr<ShmTraffic> traffic_;
        std::uint16_t group_;
    };

    Messages messages_;
};

}  // namespace gradcoll
