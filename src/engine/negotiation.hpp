// engine/negotiation.hpp - how ranks agree which sum begins next: every rank says what it has
// ready, rank 0 coordinates, and all hear the same verdicts in the same order.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "engine/circle.hpp"
#include "engine/coordinator.hpp"
#include "engine/messages.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

/// Negotiation is this rank's part. What is said while a message is on its way goes with the next
/// one, so a rank has one message on its way to each rank that it talks to, whatever there is to
/// say. A rank that gathers for others says upwards what all of these have, and passes verdicts on.
/// Used by one thread at a time.
class Negotiation {
  public:
    /// Nobody else uses the channel, which must outlive it. `circle` is this rank's; all ranks have
    /// theirs of one tree. `most_pack_bytes` is what the Coordinator has. With `checked`, on all
    /// ranks or none, messages have checksums. Errors: those of the lane.
    static Result<std::unique_ptr<Negotiation>> make(Channel& channel, Circle circle,
                                                     std::uint64_t most_pack_bytes, bool checked);
    /// Drops what is on its way.
    ~Negotiation();

    /// Says that this rank has a gradient ready. Errors: those of Gathering::add where this rank
    /// gathers.
    Status say(const Ready& ready, std::uint64_t now_ns);
    /// Lets, on rank 0, the next gradient begin, or pack of them, if it fits into `room_bytes`.
    void release(std::uint64_t room_bytes);
    /// Does, on rank 0, what Coordinator::ended() does.
    void ended(std::uint32_t number) {
        if (coordinator_) coordinator_->ended(number);
    }
    /// Does, on rank 0, what Coordinator::plan_for() does.
    void plan_for(double links_carry) {
        if (coordinator_) coordinator_->plan_for(links_carry);
    }
    /// Moves messages that can leave or have come; true if there were any. Never waits. Errors:
    /// corrupt, if a message does not mean what it should; transport.
    Result<bool> advance(std::uint64_t now_ns);
    /// Lets this rank agree on nothing any more, and tells all others why: by rank 0, if need be.
    void give_up(const Status& why);
    /// Takes the next verdict that this rank has not heard. Errors: peer_failed if another rank
    /// gave up.
    Result<bool> hear(Verdict& out);
    /// Returns how many messages this rank has sent; bytes_sent() says how many bytes were in them.
    std::uint64_t messages_sent() const { return messages_sent_; }
    std::uint64_t bytes_sent() const { return bytes_sent_; }
    /// Returns whether all that was said has left.
    bool is_settled() const { return up_.is_empty() && down_.is_empty(); }
    /// Returns what Gathering::stalls() returns for those that this rank gathers from; nothing on
    /// other ranks.
    std::vector<std::string> stalls(std::uint64_t now_ns, std::uint64_t after_ns);
    /// Returns what those that this rank gathers from have said; null on other ranks.
    const Gathering* gathering() const {
        if (coordinator_) return &coordinator_->gathering();
        return gathering_ ? &*gathering_ : nullptr;
    }

  private:
    /// An Outbox has records on their way to some ranks, all the same to each.
    struct Outbox {
        std::vector<int> to{};
        std::deque<std::string>
            waiting{};          ///< records that have not left, put together to messages
        std::string leaving{};  ///< the message that is on its way
        std::size_t sends = 0;  ///< how many sends of it are under way

        bool is_empty() const { return waiting.empty() && sends == 0; }
    };

    Negotiation(Channel& channel, Circle circle, std::uint64_t most_pack_bytes, bool checked);
    Status gather(std::size_t member, const Ready& ready, std::uint64_t now_ns);
    Status listen_to(std::size_t peer);
    Status finish(const Completion& done, std::uint64_t now_ns);
    Status take_ready(std::size_t member, std::string_view bytes, std::uint64_t now_ns);
    Status take_verdicts(std::string_view bytes);
    Status send(Outbox& box, int tag, std::uint32_t cookie, bool& went_on);
    bool is_parent(std::size_t peer) const { return peer == 0 && circle_.parent >= 0; }
    std::size_t member_of(std::size_t peer) const { return peer + (circle_.parent < 0 ? 1 : 0); }

    const Circle circle_;
    const int rank_;
    std::unique_ptr<Lane> lane_;
    std::optional<Coordinator> coordinator_;  ///< set on rank 0
    std::optional<Gathering> gathering_;      ///< set on other ranks that gather
    std::vector<int> peers_;           ///< ranks that are listened to: the parent, then members
    std::vector<std::byte> received_;  ///< room for a message from each
    Outbox up_, down_;
    std::uint64_t messages_sent_ = 0;
    std::uint64_t bytes_sent_ = 0;
    std::deque<Verdict> heard_;
    std::vector<Verdict> released_;
    std::vector<Completion> completions_;
};

}  // namespace gradcoll
