// mover/mutations.cpp - see mutations.hpp.
#include "mover/mutations.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gradcoll::mover {
namespace {

struct Place {
    std::size_t rank = 0, move = 0;
};

/// Finds a random move.
bool find_move(const MovePlan& plan, Chance& chance, Place& out) {
    std::vector<Place> places;
    for (std::size_t r = 0; r < plan.ranks.size(); ++r)
        for (std::size_t m = 0; m < plan.ranks[r].moves.size(); ++m) places.push_back({r, m});
    if (places.empty()) return false;
    out = places[static_cast<std::size_t>(
        from_to(chance, 0, static_cast<std::int64_t>(places.size()) - 1))];
    return true;
}

Move& at(MovePlan& plan, Place place) {
    return plan.ranks[place.rank].moves[place.move];
}
const Move& at(const MovePlan& plan, Place place) {
    return plan.ranks[place.rank].moves[place.move];
}

std::int64_t bytes_of(const Subject& subject, std::size_t rank, const Move& move) {
    return subject.program.ranks[rank].tensors[static_cast<std::size_t>(move.tensor)].bytes;
}

Tick end_of_operator(const Subject& subject, std::size_t rank, std::int32_t op) {
    const auto index = static_cast<std::size_t>(op);
    return op < 0 ? 0
                  : subject.plan.ranks[rank].starts[index] +
                        subject.program.ranks[rank].operators[index].duration;
}

void shift(Span& span, Tick by) {
    span.start += by;
    span.end += by;
}

/// Returns the start of the first other span of the stream that starts when this one ends, or
/// later, in this step or the next.
Tick next_in_stream(const MovePlan& plan, std::size_t rank, const Move& move, Span Move::*span) {
    Tick next = std::numeric_limits<Tick>::max();
    for (const Tick later : {Tick{0}, plan.step_ticks})
        for (const Move& other : plan.ranks[rank].moves)
            if ((&other != &move || later > 0) && (other.*span).start + later >= (move.*span).end)
                next = std::min(next, (other.*span).start + later);
    return next;
}

bool late_prefetch(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    delay_prefetch(subject.plan, place.rank, place.move, plan);
    return true;
}

bool late_transfer(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    const Move& move = at(subject.plan, place);
    const Tick latest = std::min(move.transfer.end + away_of(move, subject.plan.step_ticks),
                                 next_in_stream(subject.plan, place.rank, move, &Move::transfer));
    shift(at(plan, place).transfer, latest - move.transfer.end + 1);
    return true;
}

bool early_transfer(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    Move& move = at(plan, place);
    const Tick used = end_of_operator(subject, place.rank, move.after);
    shift(move.transfer, used - move.transfer.start - 1);
    return true;
}

bool short_transfer(const Subject&, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    --at(plan, place).transfer.end;
    return true;
}

bool short_prefetch(const Subject&, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    ++at(plan, place).prefetch.start;
    return true;
}

/// Makes a move wait for an operator that starts only later.
bool late_trigger(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    Move& move = at(plan, place);
    const std::int32_t latest =
        move.is_ahead()
            ? static_cast<std::int32_t>(subject.program.ranks[place.rank].operators.size())
            : move.needed_by;
    if (end_of_operator(subject, place.rank, latest - 1) <= move.prefetch.start) return false;
    move.prefetch_at = latest;
    return true;
}

bool early_operator(const Subject& subject, Chance& chance, MovePlan& plan) {
    const auto rank = static_cast<std::size_t>(
        from_to(chance, 0, static_cast<std::int64_t>(plan.ranks.size()) - 1));
    auto& starts = plan.ranks[rank].starts;
    const std::int64_t op = from_to(chance, 0, static_cast<std::int64_t>(starts.size()) - 1);
    starts[static_cast<std::size_t>(op)] =
        end_of_operator(subject, rank, static_cast<std::int32_t>(op) - 1) - 1;
    return true;
}

bool before_it_comes(const Subject& subject, Chance& chance, MovePlan& plan) {
    const auto rank = static_cast<std::size_t>(
        from_to(chance, 0, static_cast<std::int64_t>(plan.ranks.size()) - 1));
    const auto& operators = subject.program.ranks[rank].operators;
    for (std::size_t n = 0; n < operators.size(); ++n) {
        if (operators[n].needs_rank < 0) continue;
        plan.ranks[rank].starts[n] =
            end_of_operator(subject, static_cast<std::size_t>(operators[n].needs_rank),
                            operators[n].needs_operator) +
            operators[n].delay - 1;
        return true;
    }
    return false;
}

/// Lets the next step begin before the operators of this one have ended.
bool short_step(const Subject& subject, Chance&, MovePlan& plan) {
    Tick last = 0;
    for (std::size_t r = 0; r < plan.ranks.size(); ++r)
        last = std::max(
            last, end_of_operator(subject, r,
                                  static_cast<std::int32_t>(plan.ranks[r].starts.size()) - 1));
    plan.step_ticks = last - 1;
    return true;
}

bool small_pool(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    RankMoves& rank = plan.ranks[place.rank];
    std::int64_t end = 0;
    for (const Move& move : rank.moves)
        end = std::max(end, move.host_offset + bytes_of(subject, place.rank, move));
    rank.pool_bytes = end - 1;
    return true;
}

bool one_on_another(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    Move& move = at(plan, place);
    RankMoves& rank = plan.ranks[place.rank];
    for (const Move& other : rank.moves)
        if (&other != &move && other.transfer.start < move.prefetch.end &&
            move.transfer.start < other.prefetch.end) {
            move.host_offset = other.host_offset + bytes_of(subject, place.rank, other) - 1;
            rank.pool_bytes = most_bytes;  // only the overlap is wrong
            return true;
        }
    return false;
}

/// Returns the bytes held, by summing up everything, slowly and plainly.
std::int64_t held_at(const Subject& subject, std::size_t r, Tick tick) {
    const RankProgram& rank = subject.program.ranks[r];
    std::int64_t held = 0;
    const auto is_at = [&](Tick start, Tick end) { return start <= tick && tick < end; };
    for (const DeviceTensor& tensor : rank.tensors)
        if (tensor.stays ||
            is_at(end_of_operator(subject, r, tensor.uses.front()) -
                      rank.operators[static_cast<std::size_t>(tensor.uses.front())].duration,
                  end_of_operator(subject, r, tensor.uses.back())))
            held += tensor.bytes;
    for (std::size_t n = 0; n < rank.operators.size(); ++n)
        if (is_at(subject.plan.ranks[r].starts[n],
                  end_of_operator(subject, r, static_cast<std::int32_t>(n))))
            held += rank.operators[n].workspace_bytes;
    for (const Move& move : subject.plan.ranks[r].moves) {
        const Tick step = subject.plan.step_ticks;
        const Tick back = move.transfer.end + away_of(move, step);
        if (is_at(move.transfer.end, back) || is_at(move.transfer.end - step, back - step))
            held -= bytes_of(subject, r, move);
    }
    return held;
}

/// Removes a move without which the device holds too much.
bool without_a_move(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    const Move& move = at(subject.plan, place);
    const std::int64_t bytes = bytes_of(subject, place.rank, move);
    for (const Tick start : subject.plan.ranks[place.rank].starts)
        if (start >= move.transfer.end && start < move.prefetch.start &&
            held_at(subject, place.rank, start) + bytes >
                subject.rooms.ranks[place.rank].device_bytes) {
            auto& moves = plan.ranks[place.rank].moves;
            moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(place.move));
            return true;
        }
    return false;
}

/// Puts a move on a link that a collective has for itself, at its first tick or its last.
bool onto_a_collective(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    const auto& operators = subject.program.ranks[place.rank].operators;
    Move& move = at(plan, place);
    Span& span = from_to(chance, 0, 1) == 0 ? move.transfer : move.prefetch;
    for (std::size_t n = 0; n < operators.size(); ++n) {
        if (!operators[n].holds_lane || operators[n].duration == 0) continue;
        const Tick start = subject.plan.ranks[place.rank].starts[n];
        shift(span, from_to(chance, 0, 1) == 0 ? start + 1 - span.end
                                               : start + operators[n].duration - 1 - span.start);
        return true;
    }
    return false;
}

/// Finds a move of a tensor that is summed in the host meanwhile.
bool find_hosted(const Subject& subject, Chance& chance, const MovePlan& plan, Place& out) {
    if (!find_move(plan, chance, out)) return false;
    const Move& move = at(plan, out);
    const std::int32_t op =
        subject.program.ranks[out.rank].tensors[static_cast<std::size_t>(move.tensor)].host_use;
    return op > move.after && op < move.needed_by;
}

/// Lets what is summed in the host come back a tick too early.
bool back_before_its_sum(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_hosted(subject, chance, plan, place)) return false;
    Move& move = at(plan, place);
    const std::int32_t op =
        subject.program.ranks[place.rank].tensors[static_cast<std::size_t>(move.tensor)].host_use;
    shift(move.prefetch, end_of_operator(subject, place.rank, op) - 1 - move.prefetch.start);
    return true;
}

bool sum_without_its_move(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_hosted(subject, chance, plan, place)) return false;
    auto& moves = plan.ranks[place.rank].moves;
    moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(place.move));
    return true;
}

/// Sends what lives in the host home before it has come.
bool home_too_early(const Subject&, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    Move& move = at(plan, place);
    if (!move.lives_in_host()) return false;
    std::swap(move.transfer, move.prefetch);
    return true;
}

bool same_move_twice(const Subject&, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    plan.ranks[place.rank].moves.push_back(at(plan, place));
    return true;
}

bool not_its_use(const Subject&, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    ++at(plan, place).after;
    return true;
}

bool no_tensor(const Subject& subject, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    at(plan, place).tensor =
        from_to(chance, 0, 1) == 0
            ? -1
            : static_cast<std::int32_t>(subject.program.ranks[place.rank].tensors.size());
    return true;
}

bool missing_operator(const Subject&, Chance&, MovePlan& plan) {
    plan.ranks.back().starts.pop_back();
    return true;
}

bool too_large_numbers(const Subject&, Chance& chance, MovePlan& plan) {
    Place place;
    if (!find_move(plan, chance, place)) return false;
    Move& move = at(plan, place);
    switch (from_to(chance, 0, 3)) {
        case 0:
            move.prefetch.end = std::numeric_limits<Tick>::max();
            break;
        case 1:
            move.transfer.start = std::numeric_limits<Tick>::min();
            break;
        case 2:
            move.host_offset = std::numeric_limits<std::int64_t>::max();
            break;
        default:
            move.needed_by = std::numeric_limits<std::int32_t>::max();
    }
    return true;
}

}  // namespace

void delay_prefetch(const MovePlan& plan, std::size_t rank, std::size_t move, MovePlan& out) {
    const Move& from = plan.ranks[rank].moves[move];
    const Tick latest =
        std::min(from.prefetch.end + slack_of(plan.ranks[rank], from, plan.step_ticks),
                 next_in_stream(plan, rank, from, &Move::prefetch));
    shift(out.ranks[rank].moves[move].prefetch, latest - from.prefetch.end + 1);
}

const std::vector<Mutation>& mutations() {
    static const std::vector<Mutation> all = {
        {"prefetch later than its slack", late_prefetch},
        {"transfer later than its slack", late_transfer},
        {"transfer while the tensor is used", early_transfer},
        {"transfer too short", short_transfer},
        {"prefetch too short", short_prefetch},
        {"prefetch let go later than it starts", late_trigger},
        {"operator before the one before it", early_operator},
        {"operator before what it needs comes", before_it_comes},
        {"step that is too short", short_step},
        {"pool too small", small_pool},
        {"two pieces of the pool on each other", one_on_another},
        {"a move left out that makes room", without_a_move},
        {"a move while a collective has the link", onto_a_collective},
        {"back before it is summed in the host", back_before_its_sum},
        {"summed in the host and not there", sum_without_its_move},
        {"home before it came", home_too_early},
        {"a move twice", same_move_twice},
        {"a move between no uses", not_its_use},
        {"a move of no tensor", no_tensor},
        {"an operator without a start", missing_operator},
        {"numbers that are too large", too_large_numbers}};
    return all;
}

}  // namespace gradcoll::mover
