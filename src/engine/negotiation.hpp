// engine/negotiation.hpp - how ranks agree which sum begins next: every rank says what it has
// ready, rank 0 coordinates, and all hear the same verdicts in the same order.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "engine/coordinator.hpp"
#include "engine/messages.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

/// This rank's part. What is said while a message is on its way goes with the next one, so a rank
/// has one message on its way to rank 0 and rank 0 one to each rank, whatever there is to say. Used
/// by one thread at a time.
class Negotiation {
  public:
    /// Nobody else uses the channel, which must outlive it. `most_pack_bytes`: as the Coordinator
    /// has it. Errors: those of the lane.
    static Result<std::unique_ptr<Negotiation>> make(Channel& channel,
                                                     std::uint64_t most_pack_bytes);
    /// Drops what is on its way.
    ~Negotiation();

    /// Errors: those of Coordinator::add on rank 0.
    Status say(const Ready& ready, std::uint64_t now_ns);
    /// Rank 0: the next gradient may begin, or pack of them, if it fits into so many bytes.
    void release(std::uint64_t room_bytes);
    /// Messages that can leave or have come; true if there were any. Never waits. Errors: corrupt,
    /// if a message does not mean what it should; transport.
    Result<bool> advance(std::uint64_t now_ns);
    /// This rank agrees on nothing any more, and all others are told why: by rank 0, if need be.
    void give_up(const Status& why);
    /// The next verdict that this rank has not heard. Errors: peer_failed if another rank gave up.
    Result<bool> hear(Verdict& out);
    /// By this rank, and what was in them.
    std::uint64_t messages_sent() const { return messages_sent_; }
    std::uint64_t bytes_sent() const { return bytes_sent_; }
    /// All that was said has left.
    bool is_settled() const { return waiting_.empty() && sends_ == 0; }
    /// Rank 0: as Coordinator::stalls(). Others: none.
    std::vector<std::string> stalls(std::uint64_t now_ns, std::uint64_t after_ns);

  private:
    Negotiation(Channel& channel, std::uint64_t most_pack_bytes);
    bool coordinates() const { return rank_ == 0; }
    Status listen_to(int peer);
    Status finish(const Completion& done, std::uint64_t now_ns);
    Status take_ready(int rank, std::string_view bytes, std::uint64_t now_ns);
    Status take_verdicts(std::string_view bytes);
    Result<bool> send_waiting();
    std::byte* room_of(int peer) {
        return received_.data() + static_cast<std::size_t>(peer) * control_message_bytes;
    }

    int rank_;
    int rank_count_;
    std::unique_ptr<Lane> lane_;
    Coordinator coordinator_;          ///< of use on rank 0
    std::vector<std::byte> received_;  ///< a message from each peer
    std::deque<std::string> waiting_;  ///< records that have not left, put together to messages
    std::string leaving_;              ///< the message that is on its way
    int sends_ = 0;                    ///< of it
    std::uint64_t messages_sent_ = 0;
    std::uint64_t bytes_sent_ = 0;
    std::deque<Verdict> heard_;
    std::vector<Verdict> released_;
    std::vector<Completion> completions_;
};

}  // namespace gradcoll
