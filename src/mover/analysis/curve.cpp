// mover/analysis/curve.cpp - see memory.hpp.
#include "mover/analysis/memory.hpp"

#include <algorithm>
#include <map>

namespace gradcoll::mover {
namespace {

class Changes {
  public:
    void add(Tick from, std::int64_t bytes) { changes_[from] += bytes; }
    void add(Span span, std::int64_t bytes) {
        add(span.start, bytes);
        add(span.end, -bytes);
    }
    std::vector<MemoryPoint> points() const {
        std::vector<MemoryPoint> out{{0, 0}};
        for (const auto& [at, by] : changes_) {
            if (by == 0) continue;
            if (out.back().at == at)
                out.back().bytes += by;
            else
                out.push_back({at, out.back().bytes + by});
        }
        return out;
    }

  private:
    std::map<Tick, std::int64_t> changes_;
};

}  // namespace

std::vector<MemoryPoint> device_memory_over_time(const RankProgram& rank, const RankMoves& moves,
                                                 Tick step_ticks) {
    const auto start = [&](std::int32_t op) { return moves.starts[static_cast<std::size_t>(op)]; };
    const auto span = [&](std::int32_t first, std::int32_t last) {
        return Span{start(first),
                    start(last) + rank.operators[static_cast<std::size_t>(last)].duration};
    };
    Changes changes;
    for (const DeviceTensor& tensor : rank.tensors) {
        if (tensor.stays)
            changes.add(0, tensor.bytes);
        else
            changes.add(span(tensor.uses.front(), tensor.uses.back()), tensor.bytes);
    }
    for (std::size_t n = 0; n < rank.operators.size(); ++n) {
        const auto op = static_cast<std::int32_t>(n);
        changes.add(span(op, op), rank.operators[n].workspace_bytes);
    }
    for (const Move& move : moves.moves) {
        const std::int64_t bytes = rank.tensors[static_cast<std::size_t>(move.tensor)].bytes;
        const Tick back = move.transfer.end + away_of(move, step_ticks);
        // What lives in the host is away from one step to the next, so both ends are seen; the
        // curve ends with the step.
        for (const Tick step : {Tick{0}, step_ticks}) {
            const Span away{std::max<Tick>(move.transfer.end - step, 0), back - step};
            if (away.start >= away.end || away.start >= step_ticks) continue;
            changes.add(away.start, -bytes);
            if (away.end < step_ticks) changes.add(away.end, bytes);
        }
    }
    return changes.points();
}

std::vector<MemoryPoint> host_memory_over_time(const RankProgram& rank, const RankMoves& moves) {
    Changes changes;
    for (const Move& move : moves.moves) {
        const std::int64_t bytes = rank.tensors[static_cast<std::size_t>(move.tensor)].bytes;
        if (move.lives_in_host())
            changes.add(0, bytes);
        else
            changes.add({move.transfer.start, move.prefetch.end}, bytes);
    }
    return changes.points();
}

}  // namespace gradcoll::mover
