// mover/plan/carry_out.cpp - see carry_out.hpp.
#include "mover/plan/carry_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "mover/analysis/timeline.hpp"

namespace gradcoll::mover {
namespace {

/// Returns, by rank and operator, the longest way from the operator's start to the end of the step.
/// The order of `starts`, from the last to the first, is one in which each operator comes before
/// those that it needs.
Starts rest_of(const Program& program, const Starts& starts) {
    std::vector<std::pair<std::size_t, std::size_t>> order;
    Starts rest;
    for (std::size_t r = 0; r < starts.size(); ++r) {
        rest.emplace_back(starts[r].size());
        for (std::size_t op = 0; op < starts[r].size(); ++op) order.emplace_back(r, op);
    }
    const auto place_of = [&](const std::pair<std::size_t, std::size_t>& at) {
        const Tick start = starts[at.first][at.second];
        // Among operators that start together, those without a duration come first.
        const bool lasts = program.ranks[at.first].operators[at.second].duration > 0;
        return std::tuple(start, lasts, at.second);
    };
    std::sort(order.begin(), order.end(),
              [&](const auto& a, const auto& b) { return place_of(a) > place_of(b); });
    for (const auto& [r, n] : order) {
        const Operator& op = program.ranks[r].operators[n];
        rest[r][n] += op.duration;
        if (n > 0) rest[r][n - 1] = std::max(rest[r][n - 1], rest[r][n]);
        if (op.needs_rank < 0) continue;
        Tick& needed = rest[static_cast<std::size_t>(op.needs_rank)]
                           [static_cast<std::size_t>(op.needs_operator)];
        needed = std::max(needed, op.delay + rest[r][n]);
    }
    return rest;
}

}  // namespace

/// RankRun simulates one rank, operator by operator.
class CarryOut::RankRun {
  public:
    RankRun(const RankProgram& rank, const Footprint& footprint, const RankRoom& room,
            const RankChoice& choice)
        : rank_(rank),
          footprint_(footprint),
          most_(room.device_bytes),
          one_way_at_a_time_(room.one_way_at_a_time),
          held_(footprint.staying) {
        add_moves(choice);
    }

    /// Returns when the operator starts. Called once for each operator in order; `ready` is when
    /// the operator before it has ended and the results of other ranks have arrived.
    Result<Tick> start(std::size_t op, Tick ready) {
        last_ = op;
        const Tick ended = op == 0 ? 0 : last_start_ + rank_.operators[op - 1].duration;
        if (op > 0) held_ -= footprint_.freed[op - 1] + rank_.operators[op - 1].workspace_bytes;
        send_after(static_cast<std::int32_t>(op) - 1, ended);
        // Memory goes first to what this operator needs, then to the operator, then to what later
        // ones need.
        Tick start = ready;
        const auto now = static_cast<std::int32_t>(op);
        const auto is_let_go = [&] {
            return next_fetch_ < fetches_.size() && fetches_[next_fetch_].at <= now;
        };
        for (; is_let_go() && fetches_[next_fetch_].then == now; ++next_fetch_)
            GRADCOLL_TRY(fetch(fetches_[next_fetch_].move, ended));
        const Tick room = GRADCOLL_VALUE(
            take_memory(footprint_.made[op] + rank_.operators[op].workspace_bytes, ended));
        start = std::max(start, room);
        for (; is_let_go(); ++next_fetch_) GRADCOLL_TRY(fetch(fetches_[next_fetch_].move, ended));
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

    /// Sends tensors home after the last operator. Returns when all have gone.
    Tick finish() {
        const std::size_t count = rank_.operators.size();
        if (count > 0)
            send_after(static_cast<std::int32_t>(count) - 1,
                       last_start_ + rank_.operators[count - 1].duration);
        return out_free_;
    }

    /// Returns which operator finds memory that can never be free; nothing if none does.
    std::optional<std::string> complaint(std::size_t r) const {
        if (!has_no_room_) return {};
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
        friend bool operator<(const Event& a, const Event& b) {
            return std::tuple(a.at, a.then, a.move) < std::tuple(b.at, b.then, b.move);
        }
    };

    void add_moves(const RankChoice& choice) {
        moves_.reserve(choice.size());
        std::map<std::int32_t, std::size_t> heads;  // moves of tensors that live in the host
        for (const ChosenMove& chosen : choice) {
            const Gap& gap = chosen.gap;
            // For a tensor that lives in the host, the head comes before its tail, and both are one
            // move.
            const std::size_t m =
                gap.part == GapPart::tail ? heads.at(gap.tensor) : add_move(chosen);
            if (gap.part == GapPart::head) heads[gap.tensor] = m;
            if (gap.part == GapPart::head) held_ -= gap.bytes;
            if (gap.part == GapPart::tail) moves_[m].after = gap.after;
            if (gap.transfers()) sent_.push_back({gap.after, 0, m});
            if (gap.in_host >= 0) gone_by_.push_back({gap.in_host, 0, m});
            if (!gap.prefetches()) continue;
            needed_.push_back({gap.need, 0, m});
            fetches_.push_back({chosen.prefetch_at, gap.need, m});
        }
        for (std::vector<Event>* events : {&sent_, &gone_by_, &needed_, &fetches_})
            std::sort(events->begin(), events->end());
    }

    std::size_t add_move(const ChosenMove& chosen) {
        moves_.push_back({.tensor = chosen.gap.tensor,
                          .after = chosen.gap.after,
                          .prefetch_at = chosen.prefetch_at,
                          .needed_by = chosen.gap.need});
        ticks_.push_back(chosen.gap.ticks);
        return moves_.size() - 1;
    }

    std::int64_t bytes_of(std::size_t m) const {
        return rank_.tensors[static_cast<std::size_t>(moves_[m].tensor)].bytes;
    }
    /// Returns when the link is free for a move to the host.
    Tick out_free() const { return one_way_at_a_time_ ? std::max(out_free_, in_free_) : out_free_; }
    Tick in_free() const { return one_way_at_a_time_ ? std::max(out_free_, in_free_) : in_free_; }

    void send_after(std::int32_t op, Tick ended) {
        for (; next_sent_ < sent_.size() && sent_[next_sent_].at == op; ++next_sent_) {
            const std::size_t m = sent_[next_sent_].move;
            const Tick begin = std::max(out_free(), ended);
            moves_[m].transfer = {begin, begin + ticks_[m]};
            out_free_ = moves_[m].transfer.end;
            going_.push_back({out_free_, bytes_of(m)});
        }
    }

    /// Takes `bytes`, and returns when they are free. Waits for moves that have not gone yet, in
    /// their order.
    Result<Tick> take_memory(std::int64_t bytes, Tick from) {
        held_ += bytes;
        while (held_ > most_ && !going_.empty()) {
            memory_free_ = going_.front().gone;
            held_ -= going_.front().bytes;
            going_.pop_front();
        }
        // Memory that was freed but not needed by the request before is free no earlier.
        if (held_ <= most_) return std::max(from, memory_free_);
        has_no_room_ = true;
        return Status(Code::out_of_memory, {});
    }

    Status fetch(std::size_t m, Tick from) {
        const Tick room = GRADCOLL_VALUE(take_memory(bytes_of(m), from));
        const Tick begin = std::max({room, in_free(), moves_[m].transfer.end});
        moves_[m].prefetch = {begin, begin + ticks_[m]};
        in_free_ = moves_[m].prefetch.end;
        return {};
    }

    const RankProgram& rank_;
    const Footprint& footprint_;
    std::int64_t most_;
    bool one_way_at_a_time_;
    std::int64_t held_;  ///< taken or promised, and not known to be free
    bool has_no_room_ = false;
    std::size_t last_ = 0;  ///< the operator that was asked for last
    std::vector<Move> moves_;
    std::vector<Tick> ticks_;     ///< by move, one way
    std::vector<Event> sent_;     ///< at: the last use
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
        for (const DeviceTensor& tensor : rank.tensors) {
            if (tensor.stays) footprint.staying += tensor.bytes;
            if (tensor.stays) continue;
            footprint.made[static_cast<std::size_t>(tensor.uses.front())] += tensor.bytes;
            footprint.freed[static_cast<std::size_t>(tensor.uses.back())] += tensor.bytes;
        }
    }
    if (const auto starts = timeline_of(program); starts.ok()) rest_ = rest_of(program, *starts);
}

std::vector<CarryOut::RankRun> CarryOut::runs_of(const std::vector<RankChoice>& choices) const {
    std::vector<RankRun> runs;
    runs.reserve(program_.ranks.size());
    for (std::size_t r = 0; r < program_.ranks.size(); ++r)
        runs.emplace_back(program_.ranks[r], footprints_[r], rooms_.ranks[r], choices[r]);
    return runs;
}

Result<Starts> CarryOut::run(std::vector<RankRun>& runs, Tick below) const {
    return run_in_order(program_, [&](std::size_t r, std::size_t op, Tick ready) -> Result<Tick> {
        const Tick start = GRADCOLL_VALUE(runs[r].start(op, ready));
        if (start + rest_[r][op] < below) return start;
        return Status(Code::out_of_memory, {});
    });
}

std::optional<Tick> CarryOut::step(const std::vector<RankChoice>& choices, Tick below) const {
    std::vector<RankRun> runs = runs_of(choices);
    const auto starts = run(runs, below);
    if (!starts.ok()) return {};
    Tick end = end_of(program_, *starts);
    for (RankRun& rank : runs) end = std::max(end, rank.finish());
    return end < below ? std::optional(end) : std::nullopt;
}

Result<MovePlan> CarryOut::plan(const std::vector<RankChoice>& choices) const {
    std::vector<RankRun> runs = runs_of(choices);
    auto starts = run(runs, std::numeric_limits<Tick>::max());
    for (std::size_t r = 0; r < runs.size(); ++r)
        if (auto complaint = runs[r].complaint(r))
            return Status(Code::out_of_memory, std::move(*complaint));
    if (!starts.ok()) return starts.status();
    MovePlan plan;
    plan.step_ticks = end_of(program_, *starts);
    for (std::size_t r = 0; r < runs.size(); ++r) {
        plan.step_ticks = std::max(plan.step_ticks, runs[r].finish());
        plan.ranks.push_back({std::move((*starts)[r]), std::move(runs[r]).moves(), 0});
    }
    return plan;
}

}  // namespace gradcoll::mover
