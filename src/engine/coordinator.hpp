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
/// one that was complete first. Short ones may begin together, as a pack. Shapes that differ are an
/// error of all ranks, once all have handed it in. Used by one thread at a time. Allocates for
/// names, numbers and shapes that it has not seen.
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

  private:
    void take_complete();
    void take_pack();
    Verdict verdict_of(GatheredGradient& gradient);
    /// Orders a heap whose top begins next.
    static bool goes_after(const GatheredGradient* a, const GatheredGradient* b);

    Gathering gathering_;
    std::uint64_t most_pack_bytes_;
    double links_carry_ = 1;
    std::uint32_t plans_ = 0;                  ///< how often plan_for() was called
    std::vector<GatheredGradient*> complete_;  ///< a heap
    std::vector<GatheredGradient*> taken_;     ///< those taken from it, to begin together
};

}  // namespace gradcoll
