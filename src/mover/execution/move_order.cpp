// mover/execution/move_order.cpp - see move_order.hpp.
#include "mover/execution/move_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace gradcoll::mover {
namespace {

std::int64_t bytes_of(const RankProgram& rank, const Move& move) {
    return rank.tensors[index_of(move.tensor)].bytes;
}

/// Places knows which move used each part of the pool last.
class Places {
  public:
    std::vector<std::size_t> take(std::size_t move, std::int64_t begin, std::int64_t end) {
        std::vector<std::size_t> before;
        auto found = last_.lower_bound(begin);
        if (found != last_.begin() && std::prev(found)->second.end > begin) --found;
        while (found != last_.end() && found->first < end) {
            const auto [from, piece] = *found;
            before.push_back(piece.move);
            found = last_.erase(found);
            if (from < begin) last_.emplace(from, Piece{begin, piece.move});
            if (piece.end > end) found = last_.emplace(end, piece).first;
        }
        if (begin < end) last_.emplace(begin, Piece{end, move});
        return before;
    }

  private:
    struct Piece {
        std::int64_t end = 0;
        std::size_t move = 0;
    };
    std::map<std::int64_t, Piece> last_;
};

std::vector<Claim> claims_of(const RankProgram& rank, const RankMoves& moves,
                             const std::vector<std::int64_t>& made_bytes) {
    std::vector<Tick> ends;
    std::vector<std::pair<Tick, Claim>> timed;
    for (std::size_t n = 0; n < rank.operators.size(); ++n) {
        ends.push_back(moves.starts[n] + rank.operators[n].duration);
        timed.push_back({moves.starts[n],
                         {.index = n, .bytes = made_bytes[n] + rank.operators[n].workspace_bytes}});
    }
    for (std::size_t m = 0; m < moves.moves.size(); ++m) {
        const Move& move = moves.moves[m];
        const auto ended = std::upper_bound(ends.begin(), ends.end(), move.prefetch.start);
        auto after = static_cast<std::int32_t>(ended - ends.begin()) - 1;
        if (!move.is_ahead()) after = std::min(after, move.needed_by - 1);
        timed.push_back(
            {move.prefetch.start, {true, m, after, bytes_of(rank, move), move.is_ahead()}});
    }
    const auto operators = static_cast<std::int32_t>(rank.operators.size());
    // The claim of a PREFETCH comes before that of the operator that needs it, even if it takes no
    // time.
    const auto key = [&](const std::pair<Tick, Claim>& entry) {
        const Claim& claim = entry.second;
        const std::int32_t op =
            claim.is_move ? moves.moves[claim.index].needed_by + (claim.is_ahead ? operators : 0)
                          : static_cast<std::int32_t>(claim.index);
        return std::tuple(entry.first, op, !claim.is_move, claim.index);
    };
    std::sort(timed.begin(), timed.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    std::vector<Claim> claims;
    for (const auto& [at, claim] : timed) claims.push_back(claim);
    return claims;
}

/// Makes all that the plan has before a collective that holds the lane end before it, and the rest
/// begin after it. The claims of PREFETCHs already make those begin after it.
void keep_off_collectives(const RankProgram& rank, const RankMoves& moves, Tick step_ticks,
                          MoveOrder& order) {
    const auto operators = static_cast<std::int32_t>(rank.operators.size());
    for (std::size_t n = 0; n < rank.operators.size(); ++n) {
        if (!rank.operators[n].holds_lane) continue;
        const Tick start = moves.starts[n], end = start + rank.operators[n].duration;
        MoveOrder::Ended& before = order.ended_before[n];
        for (std::size_t m = 0; m < moves.moves.size(); ++m) {
            const Move& move = moves.moves[m];
            const auto op = static_cast<std::int32_t>(n);
            for (const Tick earlier : {Tick{0}, step_ticks}) {
                if (move.transfer.end - earlier <= start) ++before.transfers;
                if (move.prefetch.end - earlier <= start) ++before.prefetches;
                if (move.transfer.start - earlier >= end)
                    order.sent_after[m] =
                        std::max(order.sent_after[m], op + (earlier == 0 ? 0 : operators));
            }
        }
    }
}

}  // namespace

MoveOrder order_of(const RankProgram& rank, const RankMoves& moves, Tick step_ticks) {
    MoveOrder order;
    const std::size_t operators = rank.operators.size();
    order.needed_by.resize(operators);
    order.gone_by.resize(operators);
    order.ended_before.resize(operators);
    order.sent_after.resize(moves.moves.size());
    order.made_by.resize(operators);
    order.ended_by.resize(operators);
    order.place_after.resize(moves.moves.size());
    std::vector<std::int64_t> made_bytes(operators, 0);
    for (std::size_t t = 0; t < rank.tensors.size(); ++t) {
        const DeviceTensor& tensor = rank.tensors[t];
        if (tensor.stays) continue;
        made_bytes[index_of(tensor.uses.front())] += tensor.bytes;
        order.made_by[index_of(tensor.uses.front())].push_back(t);
        order.ended_by[index_of(tensor.uses.back())].push_back(t);
    }
    order.claims = claims_of(rank, moves, made_bytes);
    order.transfers.resize(moves.moves.size());
    std::iota(order.transfers.begin(), order.transfers.end(), std::size_t{0});
    std::stable_sort(order.transfers.begin(), order.transfers.end(),
                     [&](std::size_t a, std::size_t b) {
                         return moves.moves[a].transfer.start < moves.moves[b].transfer.start;
                     });
    Places places;
    for (const std::size_t m : order.transfers) {
        const Move& move = moves.moves[m];
        order.needed_by[index_of(move.needed_by)].push_back(m);
        const std::int32_t in_host = rank.tensors[index_of(move.tensor)].host_use;
        if (in_host > move.after && in_host < move.needed_by)
            order.gone_by[index_of(in_host)].push_back(m);
        order.sent_after[m] = move.after;
        order.place_after[m] =
            places.take(m, move.host_offset, move.host_offset + bytes_of(rank, move));
    }
    keep_off_collectives(rank, moves, step_ticks, order);
    return order;
}

}  // namespace gradcoll::mover
