// engine/coordinator.hpp - which gradient that all ranks have begins next. Pure: no messages, no
// clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "engine/gathering.hpp"
#include "engine/messages.hpp"

namespace gradcoll {

/// A Coordinator is what rank 0 of an engine knows of all. A gradient begins when all ranks have
/// it: the one with the highest priority first (the highest that any rank gave it), of equals the
/// one that was complete first. Short ones may begin together, as a pack; one that is less than a
/// quarter full waits while another of its kind is under way, so that there is time for more to
/// come.
/// Shapes that differ are an error of all ranks, once all have handed it in. Used by one thread at
/// a time. Allocates for names, numbers and shapes that it has not seen.
class Coordinator {
  public:
    /// The gradients of a pack have at most `most_pack_bytes` together (Ready::bytes).
    Coordinator(std::vector<Member> members, std::uint64_t most_pack_bytes);

    /// Does what Gathering::add() does.
    Status add(std::size_t member, const Ready& ready, std::uint64_t now_ns);
    /// Puts the next gradient that all ranks have, if it fits into `room_bytes`, in place of what
    /// is in `out`; with all that go with it, if it begins a pack. Ranks may have them ready again
    /// from then on.
    bool next(std::uint64_t room_bytes, std::vector<Verdict>& out);
    /// Takes note that the sum has ended which the gradient of this number was in. It is called
    /// once for each sum that next() has let begin, with any gradient of it.
    void ended(std::uint32_t number);

    /// Tells each gradient with its next verdict what it is planned for from then on
    /// (Verdict::links_carry): so all ranks plan it anew between the same two of its sums.
    void plan_for(double links_carry) {
        links_carry_ = links_carry;
        ++plans_;
    }

    /// Returns what Gathering::stalls() returns.
    std::vector<std::string> stalls(std::uint64_t now_ns, std::uint64_t after_ns) {
        return gathering_.stalls(now_ns, after_ns);
    }
    const Gathering& gathering() const { return gathering_; }

  private:
    /// A Queue has the gradients of one kind of pack that all ranks have.
    struct Queue {
        std::uint32_t pack = 0;  ///< 0: those that go by themselves
        std::uint64_t bytes = 0;
        int under_way = 0;                      ///< packs of this kind
        std::vector<GatheredGradient*> heap{};  ///< the top begins next
    };

    Queue& queue_of(std::uint32_t pack);
    Queue* next_queue();
    void take_from(Queue& queue);
    Verdict verdict_of(GatheredGradient& gradient);
    /// Orders a heap whose top begins next.
    static bool goes_after(const GatheredGradient* a, const GatheredGradient* b);

    Gathering gathering_;
    std::uint64_t most_pack_bytes_;
    double links_carry_ = 1;
    std::uint32_t plans_ = 0;  ///< how often plan_for() was called
    std::vector<Queue> queues_;
    std::vector<GatheredGradient*> taken_;  ///< those taken from one of them, to begin together
};

}  // namespace gradcoll
