// mover/check/collectives.cpp - rules for moves beside collectives.
#include <algorithm>
#include <vector>

#include "mover/check/rules.hpp"

namespace gradcoll::mover {
namespace {

/// Collectives checks the moves of one rank against its collectives.
class Collectives {
  public:
    Collectives(const Program& program, std::size_t r, const RankMoves& moves)
        : program_(program), r_(r), rank_(program.ranks[r]), moves_(moves) {
        for (std::size_t n = 0; n < rank_.operators.size(); ++n)
            if (rank_.operators[n].holds_lane) holders_.push_back(n);
    }

    /// Checks that no collective holds the lane during `span`. holders_ are in the order of their
    /// ends, so only the first that ends after the span's start matters.
    Status check_clear(const Move& move, Span span, const char* what) const {
        const auto met =
            std::upper_bound(holders_.begin(), holders_.end(), span.start,
                             [&](Tick start, std::size_t op) { return start < time_of(op).end; });
        if (met == holders_.end() || span.end <= time_of(*met).start) return {};
        return broken("rank {}: {} of {} is under way at {}, while {} holds the link", r_, what,
                      label_of(program_, tensor_of(move)),
                      std::max(span.start, time_of(*met).start),
                      label_of(program_, rank_.operators[*met]));
    }

    Status check_hosted() const {
        std::vector<const Move*> around(rank_.tensors.size(), nullptr);
        for (const Move& move : moves_.moves) {
            const std::int32_t use = tensor_of(move).host_use;
            if (use > move.after && use < move.needed_by)
                around[static_cast<std::size_t>(move.tensor)] = &move;
        }
        for (std::size_t t = 0; t < rank_.tensors.size(); ++t) {
            if (rank_.tensors[t].host_use < 0) continue;
            const auto op = static_cast<std::size_t>(rank_.tensors[t].host_use);
            if (around[t] == nullptr)
                return broken("rank {}: {} works on {} in the host, and it does not move", r_,
                              label_of(program_, rank_.operators[op]),
                              label_of(program_, rank_.tensors[t]));
            if (around[t]->transfer.end > time_of(op).start ||
                around[t]->prefetch.start < time_of(op).end)
                return broken(
                    "rank {}: {} works on {} in the host from {} to {}, where it is from "
                    "{} to {}",
                    r_, label_of(program_, rank_.operators[op]),
                    label_of(program_, rank_.tensors[t]), time_of(op).start, time_of(op).end,
                    around[t]->transfer.end, around[t]->prefetch.start);
        }
        return {};
    }

  private:
    Span time_of(std::size_t op) const {
        return {moves_.starts[op], moves_.starts[op] + rank_.operators[op].duration};
    }
    const DeviceTensor& tensor_of(const Move& move) const {
        return rank_.tensors[static_cast<std::size_t>(move.tensor)];
    }

    const Program& program_;
    std::size_t r_;
    const RankProgram& rank_;
    const RankMoves& moves_;
    std::vector<std::size_t> holders_;
};

}  // namespace

Status check_collectives(const Program& program, const MovePlan& plan) {
    for (std::size_t r = 0; r < plan.ranks.size(); ++r) {
        const Collectives collectives(program, r, plan.ranks[r]);
        // A move meets collectives of its own step, and of the next one.
        for (const Move& move : plan.ranks[r].moves)
            for (const Tick step : {0, -1}) {
                GRADCOLL_TRY(collectives.check_clear(move, in_step(move.transfer, step, plan),
                                                     "the TRANSFER"));
                GRADCOLL_TRY(collectives.check_clear(move, in_step(move.prefetch, step, plan),
                                                     "the PREFETCH"));
            }
        GRADCOLL_TRY(collectives.check_hosted());
    }
    return {};
}

}  // namespace gradcoll::mover
