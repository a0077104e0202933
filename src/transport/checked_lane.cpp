#include "transport/checked_lane.hpp"

#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/crc32c.hpp"

namespace gradcoll {
namespace {

/// Seal is what follows a message, as it travels.
struct Seal {
    std::uint32_t checksum = 0;
    std::uint32_t length = 0;  ///< modulo 2^32

    friend bool operator==(const Seal&, const Seal&) = default;
};
static_assert(sizeof(Seal) == 8);

Seal seal_of(const void* data, std::size_t size_bytes) {
    const std::span bytes(static_cast<const std::byte*>(data), size_bytes);
    return {~crc32c(~0U, bytes), static_cast<std::uint32_t>(size_bytes)};
}

class CheckedLane final : public Lane {
  public:
    CheckedLane(std::unique_ptr<Lane> lane, std::size_t capacity, int seal_shift)
        : lane_(std::move(lane)), seal_shift_(seal_shift), messages_(capacity) {
        free_all();
    }

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        return start_short_send(peer, tag, data, size_bytes, size_bytes, cookie);
    }

    Status start_short_send(int peer, int tag, const void* data, std::size_t size_bytes,
                            std::size_t whole_bytes, std::uint32_t cookie) override {
        if (free_.empty()) return lane_full(messages_.size());
        const std::uint32_t place = free_.back();
        Message& message = messages_[place] = {.cookie = cookie};
        GRADCOLL_TRY(lane_->start_short_send(peer, tag, data, size_bytes, whole_bytes, 2 * place));
        free_.pop_back();
        // The first of it is on its way by now, and the checksum takes no time of the wire's.
        message.seal = seal_of(data, size_bytes);
        return lane_->start_send(peer, tag + seal_shift_, &message.seal, sizeof(Seal),
                                 2 * place + 1);
    }

    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override {
        if (free_.empty()) return lane_full(messages_.size());
        const std::uint32_t place = free_.back();
        Message& message = messages_[place] = {.cookie = cookie, .received = data};
        GRADCOLL_TRY(lane_->start_recv(peer, tag, data, size_bytes, 2 * place));
        free_.pop_back();
        return lane_->start_recv(peer, tag + seal_shift_, &message.seal, sizeof(Seal),
                                 2 * place + 1);
    }

    void cut_messages(std::vector<int> peers, CutEnd end) override {
        lane_->cut_messages(std::move(peers), end);
    }

    /// A message has ended when both parts of it have, or when its lane cannot go on.
    Result<std::size_t> poll(std::span<Completion> out) override {
        const std::size_t parts = GRADCOLL_VALUE(lane_->poll(out));
        std::size_t ended = 0;
        for (std::size_t i = 0; i < parts; ++i) {
            Completion part = std::move(out[i]);
            const std::uint32_t place = part.cookie / 2;
            Message& message = messages_[place];
            const bool goes_on = part.status.ok() || part.status.code() == Code::corrupt;
            take(message, std::move(part));
            if (--message.parts > 0 && goes_on) continue;
            out[ended++] = finish(message);
            free_.push_back(place);
        }
        return ended;
    }

    bool rest(std::chrono::microseconds longest) override { return lane_->rest(longest); }
    std::size_t in_flight() const override { return lane_->in_flight(); }
    void abandon() override {
        lane_->abandon();
        free_all();
    }

  private:
    struct Message {
        std::uint32_t cookie = 0;
        void* received = nullptr;  ///< where it comes to; null for sends
        Seal seal = {};
        int parts = 2;  ///< those that have not ended
        bool is_sealed = true;
        std::size_t received_bytes = 0;
        Status status = {};
    };

    void free_all() {
        free_.resize(messages_.size());
        std::iota(free_.begin(), free_.end(), 0U);
    }

    static void take(Message& message, Completion part) {
        if (part.cookie % 2 == 0) {
            message.received_bytes = part.received_bytes;
            message.status = std::move(part.status);
            return;
        }
        const bool has_come = part.status.ok() && part.received_bytes == sizeof(Seal);
        if (message.received != nullptr) message.is_sealed = has_come;
        if (part.status.code() == Code::transport) message.status = std::move(part.status);
    }

    static Completion finish(Message& message) {
        Completion done{message.cookie, message.received_bytes, std::move(message.status)};
        if (message.received != nullptr && done.status.ok())
            done.is_damaged = !message.is_sealed ||
                              message.seal != seal_of(message.received, message.received_bytes);
        return done;
    }

    std::unique_ptr<Lane> lane_;
    int seal_shift_;
    std::vector<Message> messages_;
    std::vector<std::uint32_t> free_;
};

}  // namespace

std::unique_ptr<Lane> make_checked_lane(std::unique_ptr<Lane> lane, std::size_t capacity,
                                        int seal_shift) {
    return std::make_unique<CheckedLane>(std::move(lane), capacity, seal_shift);
}

}  // namespace gradcoll
