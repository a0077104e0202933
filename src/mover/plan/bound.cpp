// mover/plan/bound.cpp - see planner_parts.hpp.
#include "mover/plan/planner_parts.hpp"

#include <algorithm>
#include <bitset>
#include <numeric>
#include <utility>

#include "mover/analysis/memory.hpp"
#include "mover/analysis/timeline.hpp"

namespace gradcoll::mover {
namespace {

/// A Batch can cross the link from some time on.
struct Batch {
    Tick from = 0;
    std::int64_t bytes = 0;
};

/// Returns the least sum of some of the batches that is not below `bytes`, or something between
/// both if that is not found soon: sums are counted in the largest unit that all sizes share.
std::int64_t least_sum(const std::vector<Batch>& batches, std::int64_t bytes) {
    constexpr std::size_t most_units = 1 << 14, most_batches = 256;
    std::int64_t unit = 0, all = 0;
    for (const Batch& batch : batches) {
        unit = std::gcd(unit, batch.bytes);
        all += batch.bytes;
    }
    if (unit == 0 || all <= bytes) return bytes;
    const auto units = static_cast<std::size_t>(divided_up(bytes, unit));
    const auto last = static_cast<std::size_t>(all / unit);
    if (last <= most_units && batches.size() <= most_batches) {
        std::bitset<most_units + 1> sums(1);
        for (const Batch& batch : batches)
            sums |= sums << static_cast<std::size_t>(batch.bytes / unit);
        for (std::size_t sum = units; sum <= last; ++sum)
            if (sums[sum]) return static_cast<std::int64_t>(sum) * unit;
    }
    return static_cast<std::int64_t>(units) * unit;
}

/// Returns when `bytes` of the batches, which are in the order of their times, have crossed a link
/// that carries them without a pause where it can.
Tick crossed_by(const std::vector<Batch>& batches, std::int64_t bytes, const Lane& lane) {
    double now = 0;
    for (const Batch& batch : batches) {
        if (bytes <= 0) break;
        const std::int64_t taken = std::min(bytes, batch.bytes);
        now = std::max(now, static_cast<double>(batch.from)) +
              static_cast<double>(taken) * ticks_per_second /
                  static_cast<double>(lane.bytes_per_second);
        bytes -= taken;
    }
    return static_cast<Tick>(now);
}

/// RankBound is the bound by one rank's link. While an operator runs for which the device has too
/// little memory, as many bytes as are missing are away: whole tensors, which have left entirely
/// and have not begun to come back. They left after their last uses before the operator, and come
/// back after it, before their next uses. So
/// - it starts no earlier than the missing bytes can have crossed the link, which carries those
///   first that are used no more first (any other order, and any other choice of tensors, is
///   later);
/// - from its end to the end of the step no less time passes than the same takes, seen from the end
///   of the step: those cross first that are needed last;
/// - both times follow each other, so that their sum bounds the step.
/// What holds for an operator moves the others: those that come after it start later, so that what
/// they used can leave later only. start() and rest() are called in such an order, and what they
/// return are bounds by induction. A model state that is used on one side of the operator alone may
/// have crossed in another step, and is taken to have done so. Not counted is what crosses the link
/// besides, what is away for one operator and has to be there for another, and room that tensors
/// take on their way.
class RankBound {
  public:
    RankBound(const RankProgram& rank, const RankRoom& room, const MovableKinds& kinds)
        : rank_(rank),
          room_(room),
          gaps_(gaps_of(rank, room.lane, kinds)),
          states_(may_live_in_host(rank, kinds)),
          starts_(rank.operators.size()),
          rest_(rank.operators.size()),
          missing_(held_by_operator(rank)),
          has_bundles_(std::any_of(rank.tensors.begin(), rank.tensors.end(),
                                   [](const DeviceTensor& tensor) { return tensor.pieces > 1; })) {
        for (std::int64_t& bytes : missing_) bytes -= room.device_bytes;
        look_at_some();
    }

    /// Returns a time before which the operator starts in no plan; `ready` is one for what it needs
    /// of other operators. Operators come in their order.
    Tick start(std::size_t op, Tick ready) {
        starts_[op] = is_looked_at_[op] == 0 ? ready : std::max(ready, gone_by(op));
        return starts_[op];
    }

    /// Returns a time that passes in any plan from the operator's start to the end of the step;
    /// `rest` is one by what other operators need. Operators come in the reverse order.
    Tick rest(std::size_t op, Tick rest) {
        rest_[op] = is_looked_at_[op] == 0
                        ? rest
                        : std::max(rest, rank_.operators[op].duration + back_in(op));
        return rest_[op];
    }

    /// Returns the least time of a step by what start() and rest() have found, and in which what
    /// has to be away crosses the link, as it does in each step.
    Tick shortest() const {
        Tick shortest = 0;
        for (std::size_t op = 0; op < starts_.size(); ++op)
            shortest = std::max(shortest, starts_[op] + rest_[op]);
        const auto most = std::max_element(missing_.begin(), missing_.end());
        if (most == missing_.end() || *most <= 0) return shortest;
        const Tick one_way = crossed_by({{0, *most}}, *most, room_.lane);
        return std::max(shortest, room_.one_way_at_a_time ? 2 * one_way : one_way);
    }

  private:
    /// Chooses operators for which memory is missing: all, or in long steps some, and among them
    /// the first and the last for which most is.
    void look_at_some() {
        is_looked_at_.assign(missing_.size(), 0);
        std::vector<std::size_t> short_of_memory;
        std::size_t first = 0, last = 0;
        for (std::size_t op = 0; op < missing_.size(); ++op) {
            if (missing_[op] <= 0) continue;
            short_of_memory.push_back(op);
            if (missing_[op] > missing_[first]) first = op;
            if (missing_[op] >= missing_[last]) last = op;
        }
        if (short_of_memory.empty()) return;
        const std::size_t most = 32 + 200'000 / (gaps_.size() + 1);
        for (std::size_t n = 0; n < short_of_memory.size();
             n += (short_of_memory.size() + most - 1) / most)
            is_looked_at_[short_of_memory[n]] = 1;
        is_looked_at_[first] = is_looked_at_[last] = 1;
    }

    const DeviceTensor& state(std::int32_t tensor) const {
        return rank_.tensors[static_cast<std::size_t>(tensor)];
    }
    Tick end_at(std::int32_t op) const { return end_of(rank_, starts_, op); }

    /// Returns the gaps around an operator; `from_of` says from when on one can cross the link.
    template <class FromOf>
    std::vector<Batch> around(std::size_t op, FromOf&& from_of) const {
        std::vector<Batch> out;
        for (const Gap& gap : gaps_)
            if (std::cmp_less(gap.after, op) && std::cmp_greater(gap.need, op))
                out.push_back({from_of(gap), gap.bytes});
        return out;
    }

    /// Returns when `bytes` of the batches can have crossed the link; 0 if there are none to cross.
    Tick crossed(std::vector<Batch> batches, std::int64_t bytes) const {
        if (bytes <= 0) return 0;
        std::sort(batches.begin(), batches.end(),
                  [](const Batch& a, const Batch& b) { return a.from < b.from; });
        // A plan may move some tensors of a bundle alone.
        return crossed_by(batches, has_bundles_ ? bytes : least_sum(batches, bytes), room_.lane);
    }

    /// Returns when what is missing can have gone. States that are used later only may have gone in
    /// the step before; those that are used earlier only go home.
    Tick gone_by(std::size_t op) const {
        std::vector<Batch> batches = around(op, [&](const Gap& gap) { return end_at(gap.after); });
        std::int64_t going = missing_[op];
        for (const std::int32_t tensor : states_) {
            const DeviceTensor& one = state(tensor);
            if (std::cmp_greater(one.uses.front(), op)) going -= one.bytes;
            if (std::cmp_less(one.uses.back(), op))
                batches.push_back({end_at(one.uses.back()), one.bytes});
        }
        return crossed(std::move(batches), going);
    }

    /// Returns the time from the operator's end in which what is missing can have come back and the
    /// step end. States that are used earlier only may stay away.
    Tick back_in(std::size_t op) const {
        // Seen from the end of the step, a tensor can cross before the operator that needs it.
        const std::vector<Batch> batches =
            around(op, [&](const Gap& gap) { return rest_[static_cast<std::size_t>(gap.need)]; });
        std::int64_t coming = missing_[op];
        for (const std::int32_t tensor : states_)
            if (std::cmp_less(state(tensor).uses.back(), op)) coming -= state(tensor).bytes;
        return crossed(batches, coming);
    }

    const RankProgram& rank_;
    const RankRoom& room_;
    std::vector<Gap> gaps_;
    Homes states_;  ///< those that may live in the host
    std::vector<Tick> starts_, rest_;
    std::vector<std::int64_t> missing_;  ///< by operator: what it needs beyond the device's memory
    std::vector<char> is_looked_at_;
    bool has_bundles_;
};

}  // namespace

Tick shortest_step(const Program& program, const Rooms& rooms, const MovableKinds& kinds) {
    std::vector<RankBound> ranks;
    ranks.reserve(program.ranks.size());
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        ranks.emplace_back(program.ranks[r], rooms.ranks[r], kinds);
    const auto starts = run_in_order(program, [&](std::size_t r, std::size_t op, Tick ready) {
        return std::optional(ranks[r].start(op, ready));
    });
    if (!starts) return 0;
    run_back(program, *starts,
             [&](std::size_t r, std::size_t op, Tick rest) { return ranks[r].rest(op, rest); });
    Tick shortest = 0;
    for (const RankBound& rank : ranks) shortest = std::max(shortest, rank.shortest());
    return shortest;
}

}  // namespace gradcoll::mover
