// engine/coordinator.hpp - which gradients all ranks have, and which of them begins next. Pure: no
// messages, no clock.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "engine/messages.hpp"

namespace gradcoll {

/// What one rank of an engine knows of all. Names match gradients, in whatever order ranks hand
/// them in. A gradient begins when all ranks have it: the one with the highest priority first (the
/// highest that any rank gave it), of equals the one that was complete first. Short ones may begin
/// together, as a pack. Shapes that differ are an error of all ranks, once all have handed it in.
/// Used by one thread at a time. Allocates for names, numbers and shapes that it has not seen.
class Coordinator {
  public:
    /// `most_pack_bytes`: that the gradients of a pack have together (Ready::bytes).
    Coordinator(int rank_count, std::uint64_t most_pack_bytes);

    /// Rank `rank`, in range, has a gradient ready. Errors: corrupt for a number that was never
    /// given, a new gradient without name, and one that the rank has ready already.
    Status add(int rank, const Ready& ready, std::uint64_t now_ns);
    /// The next gradient that all ranks have, if it fits into `room_bytes`, in place of what is in
    /// `out`; with all that go with it, if it begins a pack. Ranks may have them ready again from
    /// then on.
    bool next(std::uint64_t room_bytes, std::vector<Verdict>& out);

    /// Gradients that some rank has had ready for `after_ns` and others have not: a line for people
    /// each. Each again only when it waits for as long again.
    std::vector<std::string> stalls(std::uint64_t now_ns, std::uint64_t after_ns);

  private:
    struct Shape {
        std::uint64_t hash;
        std::string text;
    };
    struct Gradient {
        std::string name;
        std::uint32_t number = unnumbered;  ///< given with its first verdict
        std::vector<Shape> shapes;
        // Of the sum that is being gathered:
        std::vector<std::uint8_t> has;  ///< by rank
        int missing = 0;
        int first_rank = 0;
        std::uint64_t shape = 0;  ///< the first rank's
        std::int32_t priority = 0;
        std::uint64_t bytes = 0;
        std::uint32_t pack = 0;
        std::uint64_t order = 0;  ///< when it was complete
        std::uint64_t told_ns = 0;
        std::uint64_t since_ns = 0;
        std::string error;
    };
    Result<Gradient*> find(const Ready& ready);
    void begin(Gradient& gradient, int rank, const Ready& ready, std::uint64_t now_ns) const;
    void compare(Gradient& gradient, int rank, const Ready& ready) const;
    std::string stall_text(const Gradient& gradient, std::uint64_t now_ns) const;
    void take_complete();
    void take_pack();
    Verdict verdict_of(Gradient& gradient);
    static const std::string& text_of(const Gradient& gradient, std::uint64_t shape);
    /// For a heap whose top begins next.
    static bool goes_after(const Gradient* a, const Gradient* b);

    int rank_count_;
    std::uint64_t most_pack_bytes_;
    std::deque<Gradient> gradients_;
    std::unordered_map<std::string, Gradient*> by_name_;
    std::vector<Gradient*> by_number_;
    std::vector<Gradient*> complete_;  ///< a heap
    std::vector<Gradient*> taken_;     ///< from it, to begin together
    std::uint64_t completed_ = 0;
};

}  // namespace gradcoll
