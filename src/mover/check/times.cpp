// mover/check/times.cpp - rules for times: operators, moves, streams, rates.
#include <algorithm>
#include <set>
#include <utility>

#include "mover/check/rules.hpp"

namespace gradcoll::mover {
namespace {

/// The sum of such a start, a few steps and a duration of at most longest_ticks does not overflow.
constexpr Tick latest = Tick{1} << 59;

bool in_range(Span span) {
    return span.start >= 0 && span.start <= span.end && span.end <= latest;
}

Status check_move_numbers(const RankProgram& rank, std::size_t r, std::size_t m, const Move& move) {
    const auto operators = static_cast<std::int64_t>(rank.operators.size());
    if (move.tensor < 0 || static_cast<std::size_t>(move.tensor) >= rank.tensors.size())
        return broken("rank {}, move {}: tensor {} is not there: it has {}", r, m, move.tensor,
                      rank.tensors.size());
    if (move.after < -1 || move.after >= operators || move.needed_by < 0 ||
        move.needed_by >= operators)
        return broken("rank {}, move {}: goes after operator {} and is needed by {}; there are {}",
                      r, m, move.after, move.needed_by, operators);
    const std::int32_t before = move.lives_in_host() ? -1 : move.after;
    const bool is_between = move.is_ahead()
                                ? move.prefetch_at <= operators
                                : move.prefetch_at > before && move.prefetch_at <= move.needed_by;
    if (!is_between)
        return broken("rank {}, move {}: is fetched at operator {}, which is not between {} and {}",
                      r, m, move.prefetch_at, before, move.needed_by);
    if (!in_range(move.transfer) || !in_range(move.prefetch))
        return broken("rank {}, move {}: its times are not from 0 to {}, or end before they start",
                      r, m, latest);
    if (move.host_offset < 0 || move.host_offset > most_bytes)
        return broken("rank {}, move {}: offset {} in the pool is not from 0 to {}", r, m,
                      move.host_offset, most_bytes);
    return {};
}

Status check_rank_numbers(const RankProgram& rank, std::size_t r, const RankMoves& moves) {
    if (moves.starts.size() != rank.operators.size())
        return broken("rank {}: {} starts of operators, it has {}", r, moves.starts.size(),
                      rank.operators.size());
    for (std::size_t n = 0; n < moves.starts.size(); ++n)
        if (moves.starts[n] < 0 || moves.starts[n] > latest)
            return broken("rank {}: operator {} starts at {}, not from 0 to {}", r, n,
                          moves.starts[n], latest);
    if (moves.pool_bytes < 0 || moves.pool_bytes > most_bytes)
        return broken("rank {}: a pool of {} bytes is not from 0 to {}", r, moves.pool_bytes,
                      most_bytes);
    for (std::size_t m = 0; m < moves.moves.size(); ++m)
        GRADCOLL_TRY(check_move_numbers(rank, r, m, moves.moves[m]));
    return {};
}

std::string name_of(const Program& program, std::size_t r, const Move& move) {
    return fmt::format(
        "rank {}: {}", r,
        label_of(program, program.ranks[r].tensors[static_cast<std::size_t>(move.tensor)]));
}

/// Returns whether `after` and `next` are successive uses of the tensor; before the first use of
/// one that stays comes the step's begin, -1.
bool are_next(const DeviceTensor& tensor, std::int32_t after, std::int32_t next) {
    const auto found = std::find(tensor.uses.begin(), tensor.uses.end(), next);
    if (found == tensor.uses.end()) return false;
    if (found == tensor.uses.begin()) return tensor.stays && after == -1;
    return *(found - 1) == after;
}

Status check_move(const Program& program, std::size_t r, const Lane& lane, const MovePlan& plan,
                  const Move& move) {
    const RankProgram& rank = program.ranks[r];
    const RankMoves& moves = plan.ranks[r];
    const DeviceTensor& tensor = rank.tensors[static_cast<std::size_t>(move.tensor)];
    const auto end_of_operator = [&](std::int32_t n) {
        const auto index = static_cast<std::size_t>(n);
        return n < 0 ? 0 : moves.starts[index] + rank.operators[index].duration;
    };
    const auto what = [&] { return name_of(program, r, move); };
    if (move.lives_in_host()) {
        if (!tensor.stays || tensor.uses.empty() || tensor.uses.front() != move.needed_by ||
            tensor.uses.back() != move.after)
            return broken(
                "{} lives in the host and comes for operators {} to {}, which are not "
                "its first and last",
                what(), move.needed_by, move.after);
    } else if (!are_next(tensor, move.after, move.needed_by))
        return broken("{} is not used by operators {} and {} one after the other", what(),
                      move.after, move.needed_by);
    if (move.transfer.start < end_of_operator(move.after))
        return broken("{} leaves at {}, while operator {} uses it until {}", what(),
                      move.transfer.start, move.after, end_of_operator(move.after));
    const Tick least = lane.ticks(tensor.bytes);
    for (const Span& span : {move.transfer, move.prefetch})
        if (span.end - span.start < least)
            return broken("{}: {} bytes in {} ticks, they take {}", what(), tensor.bytes,
                          span.end - span.start, least);
    // A tensor that lives in the host may come back in the next step only.
    const bool is_in_next = move.lives_in_host() && !move.is_ahead();
    const Tick comes = move.prefetch.start + (is_in_next ? plan.step_ticks : 0);
    if (comes < move.transfer.end)
        return broken("{} comes back at {}, before it is gone at {}", what(), comes,
                      move.transfer.end);
    if (move.prefetch.start < end_of_operator(move.prefetch_at - 1))
        return broken("{} comes back at {}, before operator {} has ended at {}", what(),
                      move.prefetch.start, move.prefetch_at - 1,
                      end_of_operator(move.prefetch_at - 1));
    if (move.is_ahead() && move.prefetch.start >= plan.step_ticks)
        return broken("{} comes ahead at {}, when the step is over at {}", what(),
                      move.prefetch.start, plan.step_ticks);
    const Tick needed = moves.starts[static_cast<std::size_t>(move.needed_by)] +
                        (move.is_ahead() ? plan.step_ticks : 0);
    if (move.prefetch.end > needed)
        return broken("{} is back at {}, operator {} needs it at {}", what(), move.prefetch.end,
                      move.needed_by, needed);
    return {};
}

/// Checks that the moves of one direction follow each other; `span` is the member of Move for it.
Status check_stream(const Program& program, std::size_t r, const MovePlan& plan, Span Move::*span,
                    const char* direction) {
    std::vector<std::pair<Span, const Move*>> order;
    for (Tick step = 0; step < steps_in_a_row; ++step)
        for (const Move& move : plan.ranks[r].moves)
            order.emplace_back(in_step(move.*span, step, plan), &move);
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return a.first.start < b.first.start; });
    for (std::size_t m = 1; m < order.size(); ++m)
        if (order[m].first.start < order[m - 1].first.end)
            return broken("{}: its {} starts at {}, the one of {} ends at {}",
                          name_of(program, r, *order[m].second), direction, order[m].first.start,
                          name_of(program, r, *order[m - 1].second), order[m - 1].first.end);
    return {};
}

/// Returns when collectives of the rank hold its lane.
std::vector<Span> held_spans(const RankProgram& rank, const RankMoves& moves) {
    std::vector<Span> spans;
    for (std::size_t n = 0; n < rank.operators.size(); ++n)
        if (rank.operators[n].holds_lane)
            spans.push_back({moves.starts[n], moves.starts[n] + rank.operators[n].duration});
    return spans;
}

struct RateChange {
    Tick at = 0;
    std::int64_t by = 0;
};

Status check_rate(const Sharing& sharing, std::vector<RateChange>& changes) {
    std::sort(changes.begin(), changes.end(), [](const RateChange& a, const RateChange& b) {
        return a.at != b.at ? a.at < b.at : a.by < b.by;
    });
    std::int64_t rate = 0;
    for (const RateChange& change : changes)
        if ((rate += change.by) > sharing.most)
            return broken("moves at {} go at {} bytes a second over a way of {}", change.at, rate,
                          sharing.most);
    return {};
}

}  // namespace

Status check_numbers(const Program& program, const Rooms& rooms, const MovePlan& plan) {
    if (plan.step_ticks < 0 || plan.step_ticks > latest)
        return broken("the step lasts {} ticks, not from 0 to {}", plan.step_ticks, latest);
    if (plan.ranks.size() != program.ranks.size() || rooms.ranks.size() != program.ranks.size())
        return broken("the plan is for {} ranks, there are {}", plan.ranks.size(),
                      program.ranks.size());
    for (std::size_t r = 0; r < plan.ranks.size(); ++r)
        GRADCOLL_TRY(check_rank_numbers(program.ranks[r], r, plan.ranks[r]));
    return {};
}

Status check_operators(const Program& program, const MovePlan& plan) {
    Tick last = 0;
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        Tick ended = 0;
        for (std::size_t n = 0; n < program.ranks[r].operators.size(); ++n) {
            const Operator& op = program.ranks[r].operators[n];
            const Tick start = plan.ranks[r].starts[n];
            if (start < ended)
                return broken("rank {}: {} starts at {}, the operator before it ends at {}", r,
                              label_of(program, op), start, ended);
            if (op.needs_rank >= 0) {
                const auto from = static_cast<std::size_t>(op.needs_rank);
                const auto needed = static_cast<std::size_t>(op.needs_operator);
                const Tick come = plan.ranks[from].starts[needed] +
                                  program.ranks[from].operators[needed].duration + op.delay;
                if (start < come)
                    return broken("rank {}: {} starts at {}, what it needs of rank {} comes at {}",
                                  r, label_of(program, op), start, op.needs_rank, come);
            }
            ended = start + op.duration;
        }
        last = std::max(last, ended);
    }
    if (plan.step_ticks < last)
        return broken("operators end at {}, the next step begins at {}", last, plan.step_ticks);
    return {};
}

Status check_moves(const Program& program, const Rooms& rooms, const MovePlan& plan) {
    for (std::size_t r = 0; r < plan.ranks.size(); ++r) {
        // Each move lies between two successive uses, so two moves of a tensor can overlap only
        // between the same two.
        std::set<std::pair<std::int32_t, std::int32_t>> seen;
        for (const Move& move : plan.ranks[r].moves) {
            GRADCOLL_TRY(check_move(program, r, rooms.ranks[r].lane, plan, move));
            // A tensor that lives in the host is away as the step begins, so that counts as a gap,
            // too.
            if (!seen.emplace(move.tensor, move.after).second ||
                (move.lives_in_host() && !seen.emplace(move.tensor, -1).second))
                return broken("{} leaves twice after operator {}", name_of(program, r, move),
                              move.after);
        }
    }
    return {};
}

Status check_streams(const Program& program, const MovePlan& plan) {
    for (std::size_t r = 0; r < plan.ranks.size(); ++r) {
        GRADCOLL_TRY(check_stream(program, r, plan, &Move::transfer, "TRANSFER"));
        GRADCOLL_TRY(check_stream(program, r, plan, &Move::prefetch, "PREFETCH"));
    }
    return {};
}

Status check_rates(const Program& program, const Rooms& rooms, const MovePlan& plan) {
    for (const Sharing& sharing : rooms.rates) {
        std::vector<RateChange> out, in;
        for (const auto& [rank, devices] : sharing.devices) {
            const auto r = static_cast<std::size_t>(rank);
            const std::int64_t rate = rooms.ranks[r].lane.bytes_per_second * devices;
            auto& back = sharing.directions_together ? out : in;
            const auto add = [](std::vector<RateChange>& way, Span span, std::int64_t of_span) {
                way.push_back({span.start, of_span});
                way.push_back({span.end, -of_span});
            };
            // A collective goes both ways at once.
            const std::int64_t held_rate = rooms.ranks[r].one_way_at_a_time ? rate / 2 : rate;
            const auto held = held_spans(program.ranks[r], plan.ranks[r]);
            for (Tick step = 0; step < steps_in_a_row; ++step) {
                for (const Move& move : plan.ranks[r].moves) {
                    add(out, in_step(move.transfer, step, plan), rate);
                    add(back, in_step(move.prefetch, step, plan), rate);
                }
                for (const Span& span : held) {
                    add(out, in_step(span, step, plan), held_rate);
                    add(back, in_step(span, step, plan), held_rate);
                }
            }
        }
        GRADCOLL_TRY(check_rate(sharing, out));
        GRADCOLL_TRY(check_rate(sharing, in));
    }
    return {};
}

}  // namespace gradcoll::mover
