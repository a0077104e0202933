// support/loopback.cpp - one lock, one mailbox a rank; receivers match and copy in their
// own poll().
#include "support/loopback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

namespace gradcoll {
namespace {

class LoopbackLane;

/// Arrival is a message on its way. Its bytes are still the sender's unless they were copied when
/// it was started.
struct Arrival {
    LoopbackEnvelope envelope;
    const std::byte* data = nullptr;
    std::size_t size_bytes = 0;
    std::uint32_t cookie = 0;
    LoopbackLane* sender = nullptr;  ///< told when the bytes are taken; null if it was told already
    std::vector<std::byte> copy;     ///< eager messages only
};

struct PostedRecv {
    LoopbackEnvelope envelope;
    std::byte* data = nullptr;
    std::size_t size_bytes = 0;
    std::uint32_t cookie = 0;
    LoopbackLane* receiver = nullptr;
    bool blocked =
        false;  ///< whether later receives of its stream must wait, too, in the running poll
};

bool same_stream(const LoopbackEnvelope& a, const LoopbackEnvelope& b) {
    return a.source == b.source && a.tag == b.tag;
}

/// A Mailbox has what was sent to one rank and what it asked for, each in order of starts.
struct Mailbox {
    std::vector<Arrival> arrivals;
    std::vector<PostedRecv> posted;
};

}  // namespace

struct LoopbackState {
    explicit LoopbackState(LoopbackOptions given)
        : options(std::move(given)), random(options.seed) {}

    std::mutex mutex;  ///< guards everything below and every lane's counters and completions
    const LoopbackOptions options;
    std::mt19937_64 random;
    std::vector<Mailbox> mailboxes;
    std::vector<std::unique_ptr<Channel>> channels;
};

namespace {

class LoopbackLane final : public Lane {
  public:
    LoopbackLane(LoopbackState& state, Channel& channel, std::size_t capacity)
        : state_(state), channel_(channel), capacity_(capacity) {
        done_.reserve(capacity);
    }
    ~LoopbackLane() override { LoopbackLane::abandon(); }

    Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                      std::uint32_t cookie) override;
    Result<std::size_t> poll(std::span<Completion> out) override;
    std::size_t in_flight() const override;
    void abandon() override;

  private:
    Status admit(int peer, int tag);
    void deliver_posted(Mailbox& mailbox);
    bool try_deliver(Mailbox& mailbox, std::size_t posted_index);
    bool held_back();
    Completion take(const Arrival& arrival, const PostedRecv& posted);

    LoopbackState& state_;
    Channel& channel_;
    std::size_t capacity_;
    std::size_t started_ = 0;  ///< messages that poll() has not reported yet
    std::vector<Completion> done_;
};

class LoopbackChannel final : public Channel {
  public:
    LoopbackChannel(LoopbackState& state, int rank, int rank_count)
        : state_(state), rank_(rank), rank_count_(rank_count) {}
    int rank() const override { return rank_; }
    int rank_count() const override { return rank_count_; }
    int tag_limit() const override { return state_.options.tag_limit; }
    std::unique_ptr<Lane> open_lane(std::size_t capacity) override {
        return std::make_unique<LoopbackLane>(state_, *this, capacity);
    }

  private:
    LoopbackState& state_;
    int rank_;
    int rank_count_;
};

Status LoopbackLane::admit(int peer, int tag) {
    GRADCOLL_TRY(check_envelope(channel_, peer, tag));
    if (started_ == capacity_) return lane_full(capacity_);
    ++started_;
    return {};
}

Status LoopbackLane::start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                                std::uint32_t cookie) {
    const std::lock_guard lock(state_.mutex);
    GRADCOLL_TRY(admit(peer, tag));
    const auto* bytes = static_cast<const std::byte*>(data);
    Arrival arrival{{channel_.rank(), peer, tag}, bytes, size_bytes, cookie, this, {}};
    if (size_bytes <= state_.options.eager_bytes) {
        arrival.copy.assign(bytes, bytes + size_bytes);
        arrival.data = arrival.copy.data();
        arrival.sender = nullptr;
        done_.push_back({cookie, 0, {}});
    }
    state_.mailboxes[static_cast<std::size_t>(peer)].arrivals.push_back(std::move(arrival));
    return {};
}

Status LoopbackLane::start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                                std::uint32_t cookie) {
    const std::lock_guard lock(state_.mutex);
    GRADCOLL_TRY(admit(peer, tag));
    state_.mailboxes[static_cast<std::size_t>(channel_.rank())].posted.push_back(
        {{peer, channel_.rank(), tag},
         static_cast<std::byte*>(data),
         size_bytes,
         cookie,
         this,
         false});
    return {};
}

bool LoopbackLane::held_back() {
    const double probability = state_.options.delay_probability;
    return probability > 0 && std::bernoulli_distribution(probability)(state_.random);
}

Completion LoopbackLane::take(const Arrival& arrival, const PostedRecv& posted) {
    const LoopbackEnvelope& envelope = arrival.envelope;
    if (arrival.size_bytes > posted.size_bytes)
        return {posted.cookie, 0,
                too_long(envelope.source, envelope.tag, posted.size_bytes, arrival.size_bytes)};
    std::size_t size = arrival.size_bytes;
    if (size > 0) std::memcpy(posted.data, arrival.data, size);
    if (state_.options.tamper) size = state_.options.tamper(envelope, {posted.data, size});
    if (size == LoopbackOptions::breaks)
        return {
            posted.cookie, 0,
            Status(Code::transport, fmt::format("the way from rank {} broke", envelope.source))};
    return {posted.cookie, size, {}};
}

/// Gives the oldest arrival of its stream to a receive, unless the dice hold it back.
bool LoopbackLane::try_deliver(Mailbox& mailbox, std::size_t posted_index) {
    PostedRecv& posted = mailbox.posted[posted_index];
    const auto earlier = mailbox.posted.begin() + static_cast<std::ptrdiff_t>(posted_index);
    posted.blocked = std::any_of(mailbox.posted.begin(), earlier, [&](const PostedRecv& other) {
        return other.blocked && same_stream(other.envelope, posted.envelope);
    });
    if (posted.blocked) return false;
    const auto arrival =
        std::find_if(mailbox.arrivals.begin(), mailbox.arrivals.end(),
                     [&](const Arrival& a) { return same_stream(a.envelope, posted.envelope); });
    posted.blocked = arrival == mailbox.arrivals.end() || held_back();
    if (posted.blocked) return false;
    posted.receiver->done_.push_back(take(*arrival, posted));
    if (arrival->sender) arrival->sender->done_.push_back({arrival->cookie, 0, {}});
    mailbox.arrivals.erase(arrival);
    mailbox.posted.erase(earlier);
    return true;
}

void LoopbackLane::deliver_posted(Mailbox& mailbox) {
    for (std::size_t i = 0; i < mailbox.posted.size();)
        if (!try_deliver(mailbox, i)) ++i;
}

Result<std::size_t> LoopbackLane::poll(std::span<Completion> out) {
    const std::lock_guard lock(state_.mutex);
    deliver_posted(state_.mailboxes[static_cast<std::size_t>(channel_.rank())]);
    const std::size_t count = std::min(out.size(), done_.size());
    const auto end = done_.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(done_.begin(), end, out.begin());
    done_.erase(done_.begin(), end);
    started_ -= count;
    return count;
}

std::size_t LoopbackLane::in_flight() const {
    const std::lock_guard lock(state_.mutex);
    return started_;
}

void LoopbackLane::abandon() {
    const std::lock_guard lock(state_.mutex);
    for (Mailbox& mailbox : state_.mailboxes) {
        std::erase_if(mailbox.arrivals, [this](const Arrival& a) { return a.sender == this; });
        std::erase_if(mailbox.posted, [this](const PostedRecv& p) { return p.receiver == this; });
    }
    done_.clear();
    started_ = 0;
}

}  // namespace

LoopbackWorld::LoopbackWorld(int rank_count, LoopbackOptions options)
    : state_(std::make_unique<LoopbackState>(std::move(options))) {
    state_->mailboxes.resize(static_cast<std::size_t>(rank_count));
    for (int rank = 0; rank < rank_count; ++rank)
        state_->channels.push_back(std::make_unique<LoopbackChannel>(*state_, rank, rank_count));
}

LoopbackWorld::~LoopbackWorld() = default;

Channel& LoopbackWorld::channel(int rank) {
    return *state_->channels[static_cast<std::size_t>(rank)];
}

}  // namespace gradcoll
