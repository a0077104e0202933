// mover/plan/carry_out.cpp - see carry_out.hpp.
#include "mover/plan/carry_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <numeric>

#include "mover/analysis/timeline.hpp"

namespace gradcoll::mover {
/// RankRun simulates one rank, operator by operator. It begins a step with what the step before has
/// left under way, which is known only after the step: carry() sets it.
class CarryOut::RankRun {
  public:
    RankRun(const RankProgram& rank, const Footprint& footprint, const RankRoom& room,
            const RankChoice& choice)
        : rank_(rank),
          footprint_(footprint),
          most_(room.device_bytes),
          one_way_at_a_time_(room.one_way_at_a_time) {
        add_moves(choice);
        forget();
    }

    /// Lets the next step begin with nothing under way.
    void forget() {
        gone_.assign(moves_.size(), 0);
        come_.assign(moves_.size(), 0);
    }

    void begin() {
        last_ = next_sent_ = next_gone_by_ = next_needed_ = next_fetch_ = 0;
        out_free_ = in_free_ = memory_free_ = last_start_ = 0;
        held_ = footprint_.staying;
        going_.clear();
        for (const Event& sent : sent_) {
            if (!lives_in_host(sent.move)) continue;
            moves_[sent.move].transfer.end = gone_[sent.move];
            out_free_ = std::max(out_free_, gone_[sent.move]);
            going_.push_back({gone_[sent.move], bytes_of(sent.move)});
        }
        for (const Event& fetch : fetches_) {
            if (!moves_[fetch.move].is_ahead()) continue;
            moves_[fetch.move].prefetch.end = come_[fetch.move];
            in_free_ = std::max(in_free_, come_[fetch.move]);
            held_ += bytes_of(fetch.move);
        }
    }

    /// Returns when the operator starts; nothing if memory can never be free. Called once for each
    /// operator in order; `ready` is when the operator before it has ended and the results of other
    /// ranks have arrived.
    std::optional<Tick> start(std::size_t op, Tick ready) {
        last_ = op;
        const Tick ended = op == 0 ? 0 : last_start_ + rank_.operators[op - 1].duration;
        if (op > 0) held_ -= footprint_.freed[op - 1] + rank_.operators[op - 1].workspace_bytes;
        send_after(static_cast<std::int32_t>(op) - 1, ended);
        // Memory goes first to what this operator needs, then to the operator, then to what later
        // ones need.
        const auto now = static_cast<std::int32_t>(op);
        if (!fetch_at(now, now, ended)) return {};
        const auto room =
            take_memory(footprint_.made[op] + rank_.operators[op].workspace_bytes, ended);
        if (!room || !fetch_at(now, std::numeric_limits<std::int32_t>::max(), ended)) return {};
        Tick start = std::max(ready, *room);
        for (; next_needed_ < needed_.size() && needed_[next_needed_].at == now; ++next_needed_)
            start = std::max(start, moves_[needed_[next_needed_].move].prefetch.end);
        for (; next_gone_by_ < gone_by_.size() && gone_by_[next_gone_by_].at == now;
             ++next_gone_by_)
            start = std::max(start, moves_[gone_by_[next_gone_by_].move].transfer.end);
        // A collective waits for all moves that were let go; later moves begin when it has ended.
        if (rank_.operators[op].holds_lane) start = std::max({start, out_free_, in_free_});
        last_start_ = start;
        return start;
    }

    /// Does what follows the last operator. Returns false if memory can never be free.
    bool finish() {
        const std::size_t count = rank_.operators.size();
        if (count == 0) return true;
        const Tick ended = last_start_ + rank_.operators[count - 1].duration;
        held_ -= footprint_.freed[count - 1] + rank_.operators[count - 1].workspace_bytes;
        send_after(static_cast<std::int32_t>(count) - 1, ended);
        return fetch_at(static_cast<std::int32_t>(count), std::numeric_limits<std::int32_t>::max(),
                        ended);
    }

    /// Returns how long the step has to last at least so that the next one begins with no more
    /// under way than this one did.
    Tick shortest() const {
        Tick shortest = 0;
        for (std::size_t m = 0; m < moves_.size(); ++m) {
            if (!lives_in_host(m)) continue;
            shortest = std::max(shortest, moves_[m].transfer.end - gone_[m]);
            if (moves_[m].is_ahead())
                shortest = std::max(
                    {shortest, moves_[m].prefetch.end - come_[m], moves_[m].prefetch.start + 1});
        }
        return shortest;
    }

    /// Lets the next step begin with what a step of `ticks` leaves under way, and not with less
    /// than this one.
    void carry(Tick ticks) {
        for (std::size_t m = 0; m < moves_.size(); ++m) {
            if (!lives_in_host(m)) continue;
            gone_[m] = std::max(gone_[m], moves_[m].transfer.end - ticks);
            if (moves_[m].is_ahead()) come_[m] = std::max(come_[m], moves_[m].prefetch.end - ticks);
        }
    }

    /// Returns which operator finds memory that can never be free; nothing if none does.
    std::optional<std::string> complaint(std::size_t r) const {
        if (held_ <= most_ || !going_.empty()) return {};
        return fmt::format("rank {}: operator {} finds {} bytes held of {}", r, last_, held_,
                           most_);
    }

    std::vector<Move> moves() && {
        std::sort(moves_.begin(), moves_.end(),
                  [](const Move& a, const Move& b) { return a.transfer.start < b.transfer.start; });
        return std::move(moves_);
    }

  private:
    struct Going {
        Tick gone = 0;
        std::int64_t bytes = 0;
    };

    /// An Event is a move that is looked at when an operator starts.
    struct Event {
        std::int32_t at = 0;
        std::int32_t then = 0;
        std::size_t move = 0;
    };

    /// Sorts events by a member, which is below `end`; those that are alike keep their order. A
    /// step has about as many events as operators, so counting is faster than comparing.
    static void sort_by(std::int32_t Event::*member, std::int32_t end, std::vector<Event>& events) {
        std::vector<std::size_t> place(static_cast<std::size_t>(end) + 1);
        for (const Event& event : events) ++place[static_cast<std::size_t>(event.*member) + 1];
        std::partial_sum(place.begin(), place.end(), place.begin());
        std::vector<Event> sorted(events.size());
        for (const Event& event : events)
            sorted[place[static_cast<std::size_t>(event.*member)]++] = event;
        events.swap(sorted);
    }

    void add_moves(const RankChoice& choice) {
        const auto count = static_cast<std::int32_t>(rank_.operators.size());
        moves_.reserve(choice.size());
        std::map<std::int32_t, std::size_t> heads;  // moves of tensors that live in the host
        for (const ChosenMove& chosen : choice) {
            const Gap& gap = chosen.gap;
            // For a tensor that lives in the host, the head comes before its tail, and both are one
            // move.
            const std::size_t m =
                gap.part == GapPart::tail ? heads.at(gap.tensor) : add_move(chosen);
            if (gap.part == GapPart::head) heads[gap.tensor] = m;
            if (gap.part == GapPart::tail) moves_[m].after = gap.after;
            if (gap.transfers()) sent_.push_back({gap.after + 1, 0, m});
            if (gap.in_host >= 0) gone_by_.push_back({gap.in_host, 0, m});
            if (gap.prefetches()) needed_.push_back({gap.need, 0, m});
        }
        for (std::size_t m = 0; m < moves_.size(); ++m)
            fetches_.push_back({moves_[m].prefetch_at,
                                moves_[m].needed_by + (moves_[m].is_ahead() ? count : 0), m});
        sort_by(&Event::then, 2 * count + 1, fetches_);
        for (std::vector<Event>* events : {&sent_, &gone_by_, &needed_, &fetches_})
            sort_by(&Event::at, count + 1, *events);
    }

    std::size_t add_move(const ChosenMove& chosen) {
        moves_.push_back({.tensor = chosen.gap.tensor,
                          .after = chosen.gap.after,
                          .prefetch_at = chosen.prefetch_at,
                          .needed_by = chosen.gap.need});
        ticks_.push_back(chosen.gap.ticks);
        return moves_.size() - 1;
    }

    bool lives_in_host(std::size_t m) const { return moves_[m].lives_in_host(); }
    std::int64_t bytes_of(std::size_t m) const {
        return rank_.tensors[static_cast<std::size_t>(moves_[m].tensor)].bytes;
    }
    /// Returns when the link is free for a move to the host.
    Tick out_free() const { return one_way_at_a_time_ ? std::max(out_free_, in_free_) : out_free_; }
    Tick in_free() const { return one_way_at_a_time_ ? std::max(out_free_, in_free_) : in_free_; }

    void send_after(std::int32_t op, Tick ended) {
        for (; next_sent_ < sent_.size() && sent_[next_sent_].at == op + 1; ++next_sent_) {
            const std::size_t m = sent_[next_sent_].move;
            const Tick begin = std::max(out_free(), ended);
            moves_[m].transfer = {begin, begin + ticks_[m]};
            out_free_ = moves_[m].transfer.end;
            going_.push_back({out_free_, bytes_of(m)});
        }
    }

    /// Takes `bytes`, and returns when they are free; nothing if never. Waits for moves that have
    /// not gone yet, in their order.
    std::optional<Tick> take_memory(std::int64_t bytes, Tick from) {
        held_ += bytes;
        while (held_ > most_ && !going_.empty()) {
            memory_free_ = going_.front().gone;
            held_ -= going_.front().bytes;
            going_.pop_front();
        }
        if (held_ > most_) return {};
        // Memory that was freed but not needed by the request before is free no earlier.
        return std::max(from, memory_free_);
    }

    /// Fetches what is let go at the operator for one that is not after `last`. Returns false if
    /// memory can never be free.
    bool fetch_at(std::int32_t now, std::int32_t last, Tick from) {
        for (; next_fetch_ < fetches_.size() && fetches_[next_fetch_].at <= now &&
               fetches_[next_fetch_].then <= last;
             ++next_fetch_) {
            const std::size_t m = fetches_[next_fetch_].move;
            const auto room = take_memory(bytes_of(m), from);
            if (!room) return false;
            const Tick begin = std::max({*room, in_free(), moves_[m].transfer.end});
            moves_[m].prefetch = {begin, begin + ticks_[m]};
            in_free_ = moves_[m].prefetch.end;
        }
        return true;
    }

    const RankProgram& rank_;
    const Footprint& footprint_;
    std::int64_t most_;
    bool one_way_at_a_time_;
    std::int64_t held_ = 0;  ///< taken or promised, and not known to be free
    std::size_t last_ = 0;   ///< the operator that was asked for last
    std::vector<Move> moves_;
    std::vector<Tick> ticks_;     ///< by move, one way
    std::vector<Tick> gone_;      ///< by move: when the TRANSFER of the step before ends
    std::vector<Tick> come_;      ///< by move: when the PREFETCH of the step before ends
    std::vector<Event> sent_;     ///< at: the operator behind the last use
    std::vector<Event> gone_by_;  ///< at: the operator that works in the host
    std::vector<Event> needed_;   ///< at: the next use
    std::vector<Event> fetches_;  ///< at: prefetch_at; then: the next use
    std::size_t next_sent_ = 0, next_gone_by_ = 0, next_needed_ = 0, next_fetch_ = 0;
    std::deque<Going> going_;
    Tick out_free_ = 0, in_free_ = 0, memory_free_ = 0, last_start_ = 0;
};

CarryOut::CarryOut(const Program& program, const Rooms& rooms) : program_(program), rooms_(rooms) {
    for (const RankProgram& rank : program.ranks) {
        Footprint& footprint = footprints_.emplace_back();
        footprint.made.resize(rank.operators.size());
        footprint.freed.resize(rank.operators.size());
        for (const Operator& op : rank.operators)
            footprint.lane_is_held += op.holds_lane ? op.duration : 0;
        for (const DeviceTensor& tensor : rank.tensors) {
            if (tensor.stays) footprint.staying += tensor.bytes;
            if (tensor.stays) continue;
            footprint.made[static_cast<std::size_t>(tensor.uses.front())] += tensor.bytes;
            footprint.freed[static_cast<std::size_t>(tensor.uses.back())] += tensor.bytes;
        }
    }
    if (const auto starts = timeline_of(program); starts.ok())
        rest_ =
            run_back(program, *starts, [](std::size_t, std::size_t, Tick rest) { return rest; });
}

std::vector<CarryOut::RankRun> CarryOut::runs_of(const std::vector<RankChoice>& choices) const {
    std::vector<RankRun> runs;
    runs.reserve(program_.ranks.size());
    for (std::size_t r = 0; r < program_.ranks.size(); ++r)
        runs.emplace_back(program_.ranks[r], footprints_[r], rooms_.ranks[r], choices[r]);
    return runs;
}

std::optional<Starts> CarryOut::run(std::vector<RankRun>& runs, Tick below) const {
    for (RankRun& rank : runs) rank.begin();
    auto starts = run_in_order(program_, [&](std::size_t r, std::size_t op, Tick ready) {
        const auto start = runs[r].start(op, ready);
        return start && *start + rest_[r][op] < below ? start : std::nullopt;
    });
    if (!starts || end_of(program_, *starts) >= below) return {};
    for (RankRun& rank : runs)
        if (!rank.finish()) return {};
    return starts;
}

/// Returns the starts of a step of `ticks`, with the least under way as it begins that it leaves to
/// the next one; nothing if there is no such step. What is under way grows from nothing until it is
/// enough: the step is a max-plus system, so this finds the least. Whatever a step has begun with,
/// it can follow itself after what it needs by shortest(): `enough` becomes the least of these.
std::optional<Starts> CarryOut::in_a_row(std::vector<RankRun>& runs, Tick ticks, int tries,
                                         Tick& enough) const {
    for (RankRun& rank : runs) rank.forget();
    for (int n = 0; n < tries; ++n) {
        auto starts = run(runs, enough);
        if (!starts) return {};
        const Tick end = end_of(program_, *starts), needed = std::max(end, shortest(runs));
        enough = std::min(enough, needed);
        if (needed <= ticks) return starts;
        if (end > ticks) return {};
        for (RankRun& rank : runs) rank.carry(ticks);
    }
    return {};
}

Tick CarryOut::shortest(const std::vector<RankRun>& runs) const {
    Tick shortest = 0;
    for (const RankRun& rank : runs) shortest = std::max(shortest, rank.shortest());
    return shortest;
}

/// Returns how long the busiest link is busy in each step.
Tick CarryOut::busy(const std::vector<RankChoice>& choices) const {
    Tick most = 0;
    for (std::size_t r = 0; r < choices.size(); ++r) {
        Tick moving = 0;
        for (const ChosenMove& chosen : choices[r])
            if (chosen.gap.prefetches()) moving += chosen.gap.ticks;
        if (rooms_.ranks[r].one_way_at_a_time) moving *= 2;
        most = std::max(most, moving + footprints_[r].lane_is_held);
    }
    return most;
}

/// Returns by how much the step is longer since the program takes part in moves: of ranks at work
/// at once, the one with most moves.
Tick CarryOut::cost_of(const std::vector<RankChoice>& choices) const {
    if (rooms_.move_ticks == 0) return 0;
    Tick most = 0;
    for (std::size_t r = 0; r < choices.size(); ++r) {
        Tick moves = 0;
        for (const ChosenMove& chosen : choices[r])
            if (chosen.gap.prefetches())
                moves +=
                    program_.ranks[r].tensors[static_cast<std::size_t>(chosen.gap.tensor)].pieces;
        most = std::max(most, moves);
    }
    return most * rooms_.move_ticks;
}

std::optional<Tick> CarryOut::step(const std::vector<RankChoice>& choices, Tick below) const {
    constexpr int tries = 12;  // two are the rule
    const Tick cost = cost_of(choices);
    if (cost >= below) return {};
    below -= cost;
    // No step in a row is shorter than its link is busy, or than the operators of one by itself,
    // which lasts until its last move has ended.
    Tick least = busy(choices);
    if (least >= below) return {};
    std::vector<RankRun> runs = runs_of(choices);
    const auto alone = run(runs, below);
    if (!alone) return {};
    const Tick end = end_of(program_, *alone);
    Tick enough = std::min(below, std::max(end, shortest(runs)));
    least = std::max(least, end);
    if (enough == below && !in_a_row(runs, below - 1, tries, enough)) return {};
    // The best so far is mostly the shortest, which one try shows; halving ends it otherwise.
    Tick too_short = least - 1;
    bool halves = true;
    for (Tick next = least; enough - too_short > 1; halves = !halves) {
        if (!in_a_row(runs, next, tries, enough)) too_short = next;
        next = halves ? enough - 1 : too_short + (enough - too_short) / 2;
    }
    return enough + cost;
}

Result<MovePlan> CarryOut::plan(const std::vector<RankChoice>& choices) const {
    const auto ticks = step(choices);
    std::vector<RankRun> runs = runs_of(choices);
    Tick enough = longest_step;
    const auto starts =
        ticks ? in_a_row(runs, *ticks - cost_of(choices), std::numeric_limits<int>::max(), enough)
              : run(runs, longest_step);
    for (std::size_t r = 0; r < runs.size() && !starts; ++r)
        if (auto complaint = runs[r].complaint(r))
            return Status(Code::out_of_memory, std::move(*complaint));
    if (!ticks || !starts) return timeline_of(program_).status();
    MovePlan plan;
    plan.step_ticks = *ticks;
    for (std::size_t r = 0; r < runs.size(); ++r)
        plan.ranks.push_back({(*starts)[r], std::move(runs[r]).moves(), 0});
    return plan;
}

}  // namespace gradcoll::mover
