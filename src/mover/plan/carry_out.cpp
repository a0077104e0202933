// mover/plan/carry_out.cpp - see carry_out.hpp.
#include "mover/plan/carry_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "mover/analysis/timeline.hpp"

namespace gradcoll::mover {
namespace {

/// RankRun simulates one rank, operator by operator.
class RankRun {
  public:
    RankRun(const RankProgram& rank, const RankRoom& room, const RankChoice& choice)
        : rank_(rank), most_(room.device_bytes) {
        const std::size_t count = rank.operators.size();
        made_.resize(count);
        freed_.resize(count);
        gone_by_.resize(count);
        for (const DeviceTensor& tensor : rank.tensors) {
            if (tensor.stays) held_ += tensor.bytes;
            if (tensor.stays) continue;
            made_[static_cast<std::size_t>(tensor.uses.front())] += tensor.bytes;
            freed_[static_cast<std::size_t>(tensor.uses.back())] += tensor.bytes;
        }
        add_moves(choice);
    }

    /// Returns when the operator starts. Called once for each operator in order; `ready` is when
    /// the operator before it has ended and the results of other ranks have arrived.
    Result<Tick> start(std::size_t op, Tick ready) {
        const Tick ended = op == 0 ? 0 : last_start_ + rank_.operators[op - 1].duration;
        if (op > 0) held_ -= freed_[op - 1] + rank_.operators[op - 1].workspace_bytes;
        send_after(static_cast<std::int32_t>(op) - 1, ended);
        // Memory goes first to what this operator needs, then to the operator, then to what later
        // ones need.
        Tick start = ready;
        const std::size_t end = fetches_of(op);
        for (; next_fetch_ < end && needed_by(next_fetch_) == op; ++next_fetch_)
            GRADCOLL_TRY(fetch(next_fetch_, ended));
        const Tick room =
            GRADCOLL_VALUE(take_memory(made_[op] + rank_.operators[op].workspace_bytes, ended, op));
        start = std::max(start, room);
        for (; next_fetch_ < end; ++next_fetch_) GRADCOLL_TRY(fetch(next_fetch_, ended));
        for (const std::size_t m : needed_[op]) start = std::max(start, moves_[m].prefetch.end);
        for (const std::size_t m : gone_by_[op]) start = std::max(start, moves_[m].transfer.end);
        // A collective waits for all moves that were let go; later moves begin when it has ended.
        if (rank_.operators[op].holds_lane) start = std::max({start, out_free_, in_free_});
        last_start_ = start;
        starts_.push_back(start);
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

    RankMoves result() && {
        std::sort(moves_.begin(), moves_.end(),
                  [](const Move& a, const Move& b) { return a.transfer.start < b.transfer.start; });
        return {std::move(starts_), std::move(moves_), 0};
    }

  private:
    struct Going {
        Tick gone = 0;
        std::int64_t bytes = 0;
    };

    void add_moves(const RankChoice& choice) {
        needed_.resize(rank_.operators.size());
        sent_.resize(rank_.operators.size() + 1);
        for (const ChosenMove& chosen : choice) {
            const Gap& gap = chosen.gap;
            // For a tensor that lives in the host, the head comes before its tail, and both are one
            // move.
            const std::size_t m =
                gap.part == GapPart::tail ? heads_.at(gap.tensor) : add_move(chosen);
            if (gap.part == GapPart::head) heads_[gap.tensor] = m;
            if (gap.part == GapPart::head) held_ -= gap.bytes;
            if (gap.part == GapPart::tail) moves_[m].after = gap.after;
            if (gap.transfers()) sent_[static_cast<std::size_t>(chosen.sent_at)].push_back(m);
            if (gap.in_host >= 0) gone_by_[static_cast<std::size_t>(gap.in_host)].push_back(m);
            if (!gap.prefetches()) continue;
            needed_[static_cast<std::size_t>(gap.need)].push_back(m);
            fetches_.push_back(m);
        }
        std::sort(fetches_.begin(), fetches_.end(), [&](std::size_t a, std::size_t b) {
            return std::tuple(moves_[a].prefetch_at, moves_[a].needed_by, moves_[a].tensor) <
                   std::tuple(moves_[b].prefetch_at, moves_[b].needed_by, moves_[b].tensor);
        });
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
    std::size_t needed_by(std::size_t fetch) const {
        return static_cast<std::size_t>(moves_[fetches_[fetch]].needed_by);
    }
    /// Returns the end of the fetches that may be let go with `op`.
    std::size_t fetches_of(std::size_t op) const {
        std::size_t end = next_fetch_;
        while (end < fetches_.size() &&
               static_cast<std::size_t>(moves_[fetches_[end]].prefetch_at) <= op)
            ++end;
        return end;
    }

    void send_after(std::int32_t op, Tick ended) {
        for (const std::size_t m : sent_[slot_after(op)]) {
            const Tick begin = std::max(out_free_, ended);
            moves_[m].transfer = {begin, begin + ticks_[m]};
            out_free_ = moves_[m].transfer.end;
            going_.push_back({out_free_, bytes_of(m)});
        }
    }

    /// Takes `bytes`, and returns when they are free. Waits for moves that have not gone yet, in
    /// their order.
    Result<Tick> take_memory(std::int64_t bytes, Tick from, std::size_t op) {
        held_ += bytes;
        while (held_ > most_ && !going_.empty()) {
            memory_free_ = going_.front().gone;
            held_ -= going_.front().bytes;
            going_.pop_front();
        }
        // Memory that was freed but not needed by the request before is free no earlier.
        if (held_ <= most_) return std::max(from, memory_free_);
        return Status(Code::internal,
                      fmt::format("operator {} finds {} bytes held of {}", op, held_, most_));
    }

    Status fetch(std::size_t index, Tick from) {
        const std::size_t m = fetches_[index];
        const Tick room = GRADCOLL_VALUE(
            take_memory(bytes_of(m), from, static_cast<std::size_t>(moves_[m].prefetch_at)));
        const Tick begin = std::max({room, in_free_, moves_[m].transfer.end});
        moves_[m].prefetch = {begin, begin + ticks_[m]};
        in_free_ = moves_[m].prefetch.end;
        return {};
    }

    const RankProgram& rank_;
    std::int64_t most_;
    std::int64_t held_ = 0;  ///< taken or promised, and not known to be free
    std::vector<std::int64_t> made_, freed_;
    std::vector<Move> moves_;
    std::vector<Tick> ticks_;                     ///< by move, one way
    std::map<std::int32_t, std::size_t> heads_;   ///< moves of tensors that live in the host
    std::vector<std::vector<std::size_t>> sent_;  ///< moves by the operator they are let go with
    std::vector<std::vector<std::size_t>>
        gone_by_;  ///< moves by the operator that works in the host
    std::vector<std::vector<std::size_t>> needed_;  ///< moves by needed_by
    std::vector<std::size_t> fetches_;              ///< moves in the order of their prefetches
    std::size_t next_fetch_ = 0;
    std::deque<Going> going_;
    Tick out_free_ = 0, in_free_ = 0, memory_free_ = 0, last_start_ = 0;
    std::vector<Tick> starts_;
};

}  // namespace

Result<MovePlan> carry_out(const Program& program, const Rooms& rooms,
                           const std::vector<RankChoice>& choices) {
    std::vector<RankRun> runs;
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        runs.emplace_back(program.ranks[r], rooms.ranks[r], choices[r]);
    const Starts starts =
        GRADCOLL_VALUE(run_in_order(program, [&](std::size_t r, std::size_t op, Tick ready) {
            return runs[r].start(op, ready);
        }));
    MovePlan plan;
    plan.step_ticks = end_of(program, starts);
    for (RankRun& run : runs) {
        plan.step_ticks = std::max(plan.step_ticks, run.finish());
        plan.ranks.push_back(std::move(run).result());
    }
    return plan;
}

}  // namespace gradcoll::mover
