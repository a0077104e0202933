// mover/plan/bound.cpp - see planner_parts.hpp.
#include "mover/plan/planner_parts.hpp"

#include <algorithm>
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

/// RankBound is the bound by one rank's link.
class RankBound {
  public:
    RankBound(const RankProgram& rank, const RankRoom& room, const MovableKinds& kinds,
              const std::vector<Tick>& starts, const std::vector<Tick>& rest)
        : rank_(rank), room_(room), starts_(starts), rest_(rest), held_(held_by_operator(rank)) {
        gaps_ = gaps_of(rank, room.lane, kinds);
        states_ = may_live_in_host(rank, kinds);
    }

    Tick shortest() const {
        Tick longest = 0;
        std::vector<std::size_t> order(held_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (const std::size_t op : needing_most(order))
            longest = std::max({longest, until_gone(op), crossing(missing_at(op))});
        std::reverse(order.begin(), order.end());
        for (const std::size_t op : needing_most(order))
            longest = std::max(longest, until_back(op));
        return longest;
    }

  private:
    /// Returns the operators that need more than all before them in the order, if the device has
    /// not so much; the last of them, which need most.
    std::vector<std::size_t> needing_most(const std::vector<std::size_t>& order) const {
        constexpr std::size_t enough = 32;
        std::vector<std::size_t> out;
        std::int64_t most = room_.device_bytes;
        for (const std::size_t op : order)
            if (held_[op] > most) {
                most = held_[op];
                out.push_back(op);
            }
        if (out.size() > enough) out.erase(out.begin(), out.end() - enough);
        return out;
    }

    std::int64_t missing_at(std::size_t op) const { return held_[op] - room_.device_bytes; }
    Tick end_at(std::int32_t op) const { return end_of(rank_, starts_, op); }
    bool is_around(const Gap& gap, std::size_t op) const {
        return std::cmp_less(gap.after, op) && std::cmp_greater(gap.need, op);
    }

    /// Returns the bytes of the states that `is_home` holds for.
    template <class IsHome>
    std::int64_t at_home(IsHome&& is_home) const {
        std::int64_t bytes = 0;
        for (const std::int32_t tensor : states_) {
            const DeviceTensor& state = rank_.tensors[static_cast<std::size_t>(tensor)];
            if (is_home(state)) bytes += state.bytes;
        }
        return bytes;
    }
    std::int64_t at_home_before(std::size_t op) const {
        return at_home(
            [&](const DeviceTensor& state) { return std::cmp_greater(state.uses.front(), op); });
    }
    std::int64_t at_home_after(std::size_t op) const {
        return at_home(
            [&](const DeviceTensor& state) { return std::cmp_less(state.uses.back(), op); });
    }

    Tick until_gone(std::size_t op) const {
        std::vector<Batch> batches;
        for (const Gap& gap : gaps_)
            if (is_around(gap, op)) batches.push_back({end_at(gap.after), gap.bytes});
        for (const std::int32_t tensor : states_) {
            const DeviceTensor& state = rank_.tensors[static_cast<std::size_t>(tensor)];
            if (std::cmp_less(state.uses.back(), op))
                batches.push_back({end_at(state.uses.back()), state.bytes});
        }
        std::sort(batches.begin(), batches.end(),
                  [](const Batch& a, const Batch& b) { return a.from < b.from; });
        // What is used later only may have gone in the step before.
        const std::int64_t going = missing_at(op) - at_home_before(op);
        return going <= 0 ? 0 : crossed_by(batches, going, room_.lane) + rest_[op];
    }

    /// Returns the time in which what has to be away crosses the link, which it does in each step.
    Tick crossing(std::int64_t bytes) const {
        const Tick one_way = crossed_by({{0, bytes}}, bytes, room_.lane);
        return room_.one_way_at_a_time ? 2 * one_way : one_way;
    }

    Tick until_back(std::size_t op) const {
        std::vector<Batch> batches;  // seen from the end of the step
        for (const Gap& gap : gaps_)
            if (is_around(gap, op))
                batches.push_back({rest_[static_cast<std::size_t>(gap.need)], gap.bytes});
        std::sort(batches.begin(), batches.end(),
                  [](const Batch& a, const Batch& b) { return a.from < b.from; });
        const std::int64_t back = missing_at(op) - at_home_after(op);
        return back <= 0
                   ? 0
                   : end_at(static_cast<std::int32_t>(op)) + crossed_by(batches, back, room_.lane);
    }

    const RankProgram& rank_;
    const RankRoom& room_;
    const std::vector<Tick>& starts_;
    const std::vector<Tick>& rest_;
    std::vector<std::int64_t> held_;
    std::vector<Gap> gaps_;
    Homes states_;  ///< those that may live in the host
};

}  // namespace

Tick shortest_step(const Program& program, const Rooms& rooms, const MovableKinds& kinds,
                   const Starts& starts, const Starts& rest) {
    Tick shortest = end_of(program, starts);
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        shortest = std::max(
            shortest,
            RankBound(program.ranks[r], rooms.ranks[r], kinds, starts[r], rest[r]).shortest());
    return shortest;
}

}  // namespace gradcoll::mover
