// engine/gathering.hpp - which gradients all members of a group have ready. Pure: no messages, no
// clock.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "engine/circle.hpp"
#include "engine/messages.hpp"

namespace gradcoll {

/// GatheredGradient is a gradient as one group knows it.
struct GatheredGradient {
    struct Shape {
        std::uint64_t hash;
        std::string text;
    };
    std::string name;
    std::uint32_t number = unnumbered;  ///< given with its first verdict
    std::uint32_t begun_pack = 0;       ///< kind of pack that it was last part of
    std::uint32_t planned = 0;          ///< the last of Coordinator's plans that it was told
    std::vector<Shape> shapes;
    std::vector<std::optional<Said>> said;  ///< one per member: what it said last
    std::optional<Said> passed_on;          ///< what was said last for all members
    // These belong to the sum that is being gathered, or that was last:
    std::vector<std::uint8_t> has;  ///< one per member
    int missing = 0;                ///< how many members have not told yet
    /// This is what members have in common, as the first of them said it, with the highest
    /// priority; the pack is 0 if they differ in it.
    Ready ready;
    std::uint64_t order = 0;  ///< when it was complete
    std::uint64_t told_ns = 0;
    std::uint64_t since_ns = 0;
};

/// A Gathering matches gradients by their names, in whatever order members hand them in. Shapes
/// that differ are an error of the gradient (Ready::error). Used by one thread at a time. Allocates
/// for names, numbers and shapes that it has not seen.
class Gathering {
  public:
    explicit Gathering(std::vector<Member> members);

    /// Takes note that member `member`, in range, has a gradient ready. Returns the gradient if all
    /// have it now, else null. Errors: corrupt for a number that was never given, a new gradient
    /// without name, one that the member has ready already, and one that is as before where the
    /// member has said nothing before.
    Result<GatheredGradient*> add(std::size_t member, Ready ready, std::uint64_t now_ns);
    /// Lets members have the gradient, which is complete, ready again from now on.
    static void release(GatheredGradient& gradient);
    /// Gives the gradient its number; numbers are given in turn. Errors: corrupt if it is not the
    /// next one.
    Status give_number(GatheredGradient& gradient, std::uint32_t number);
    /// Numbers a name that no member may have told yet.
    Status give_number(const std::string& name, std::uint32_t number) {
        return give_number(named(name), number);
    }
    /// Returns the gradient of a number that was given.
    const GatheredGradient& numbered(std::uint32_t number) const { return *by_number_[number]; }
    std::uint32_t next_number() const { return static_cast<std::uint32_t>(by_number_.size()); }

    /// Returns a line for people for each gradient that some member has had ready for `after_ns`
    /// and others have not. It comes again only when it waits for as long again.
    std::vector<std::string> stalls(std::uint64_t now_ns, std::uint64_t after_ns);
    /// Returns the gradient that waits longest for some members; null if none does.
    const GatheredGradient* longest_missed() const;
    /// Returns who it waits for, for people; members are called what `name` returns.
    std::string missing(const GatheredGradient& gradient,
                        const std::function<int(int rank)>& name) const;

  private:
    Result<GatheredGradient*> find(const Ready& ready);
    GatheredGradient& named(const std::string& name);
    void begin(GatheredGradient& gradient, const Ready& ready, std::uint64_t now_ns) const;
    static void compare(GatheredGradient& gradient, const Ready& ready);
    Status complete_as_before(const GatheredGradient& gradient, std::size_t member,
                              Ready& ready) const;
    std::string stall_text(const GatheredGradient& gradient, std::uint64_t now_ns) const;
    static const std::string& text_of(const GatheredGradient& gradient, std::uint64_t shape);

    std::vector<Member> members_;
    std::deque<GatheredGradient> gradients_;
    std::unordered_map<std::string, GatheredGradient*> by_name_;
    std::vector<GatheredGradient*> by_number_;
    std::uint64_t completed_ = 0;
};

}  // namespace gradcoll
