// mover/check/memory.cpp - rules for places: device memory and pinned pools.
#include <algorithm>
#include <limits>
#include <map>
#include <queue>

#include "mover/check/check.hpp"
#include "mover/check/rules.hpp"

namespace gradcoll::mover {
namespace {

struct BytesChange {
    Tick at = 0;
    std::int64_t by = 0;
};

/// DeviceUse computes what a rank's device holds over the steps of a row.
class DeviceUse {
  public:
    DeviceUse(const RankProgram& rank, const RankMoves& moves, const MovePlan& plan)
        : rank_(rank), moves_(moves), plan_(plan) {
        for (const DeviceTensor& tensor : rank.tensors) add_tensor(tensor);
        for (std::size_t n = 0; n < rank.operators.size(); ++n)
            add({moves.starts[n], end_of_operator(static_cast<std::int32_t>(n))},
                rank.operators[n].workspace_bytes);
        for (const Move& move : moves.moves) {
            // A tensor that lives in the host comes back in the next step, if it is not ahead.
            const bool is_in_next = move.lives_in_host() && !move.is_ahead();
            add({move.transfer.end, move.prefetch.start + (is_in_next ? plan.step_ticks : 0)},
                -rank.tensors[static_cast<std::size_t>(move.tensor)].bytes);
        }
        // Memory that is freed at a tick can be taken at the same tick.
        std::sort(changes_.begin(), changes_.end(), [](const BytesChange& a, const BytesChange& b) {
            return a.at != b.at ? a.at < b.at : a.by < b.by;
        });
    }

    struct Held {
        Tick at = 0;
        std::int64_t bytes = 0;
    };
    /// Returns when more than `most` is held for the first time; if never, the most that is held.
    Held first_above(std::int64_t most) const {
        Held now, peak;
        for (const BytesChange& change : changes_) {
            now = {change.at, now.bytes + change.by};
            if (now.bytes > peak.bytes) peak = now;
            if (now.bytes > most) break;
        }
        return peak;
    }

  private:
    void add_tensor(const DeviceTensor& tensor) {
        if (tensor.stays) return add({0, plan_.step_ticks}, tensor.bytes);
        add({moves_.starts[static_cast<std::size_t>(tensor.uses.front())],
             end_of_operator(tensor.uses.back())},
            tensor.bytes);
    }
    /// Adds what is held for a while in each step of the row, and in the one before it.
    void add(Span span, std::int64_t bytes) {
        for (Tick step = -1; step < steps_in_a_row; ++step) {
            const Span there = in_step(span, step, plan_);
            const Tick from = std::max<Tick>(there.start, 0);
            const Tick to = std::min(there.end, steps_in_a_row * plan_.step_ticks);
            if (from >= to) continue;
            changes_.push_back({from, bytes});
            changes_.push_back({to, -bytes});
        }
    }
    Tick end_of_operator(std::int32_t n) const {
        const auto index = static_cast<std::size_t>(n);
        return moves_.starts[index] + rank_.operators[index].duration;
    }

    const RankProgram& rank_;
    const RankMoves& moves_;
    const MovePlan& plan_;
    std::vector<BytesChange> changes_;
};

/// Returns when a move's piece of the pool is in use.
Span used_by(const Move& move) {
    if (move.lives_in_host()) return {0, std::numeric_limits<Tick>::max()};
    return {move.transfer.start, move.prefetch.end};
}

/// Pool holds the pieces of a pool that are in use.
class Pool {
  public:
    /// Adds the move's piece; calls come in the order of used_by().start. Returns the move whose
    /// piece it overlaps, or null.
    const Move* take(const Move& move, std::int64_t bytes) {
        while (!ends_.empty() && ends_.top().first <= used_by(move).start) {
            pieces_.erase(ends_.top().second);
            ends_.pop();
        }
        const auto after = pieces_.lower_bound(move.host_offset);
        if (after != pieces_.end() && after->first < move.host_offset + bytes)
            return after->second.first;
        if (after != pieces_.begin()) {
            const auto before = std::prev(after);
            if (before->first + before->second.second > move.host_offset)
                return before->second.first;
        }
        pieces_.emplace(move.host_offset, std::pair(&move, bytes));
        ends_.emplace(used_by(move).end, move.host_offset);
        return nullptr;
    }

  private:
    using End = std::pair<Tick, std::int64_t>;
    std::map<std::int64_t, std::pair<const Move*, std::int64_t>> pieces_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

Status check_pool(const Program& program, std::size_t r, const RankMoves& moves) {
    std::vector<const Move*> order;
    for (const Move& move : moves.moves) order.push_back(&move);
    std::sort(order.begin(), order.end(),
              [](const Move* a, const Move* b) { return used_by(*a).start < used_by(*b).start; });
    const auto tensor_of = [&](const Move& move) -> const DeviceTensor& {
        return program.ranks[r].tensors[static_cast<std::size_t>(move.tensor)];
    };
    Pool pool;
    for (const Move* move : order) {
        const DeviceTensor& tensor = tensor_of(*move);
        if (move->host_offset + tensor.bytes > moves.pool_bytes)
            return broken("rank {}: {} lies at {} with {} bytes, the pool has {}", r,
                          label_of(program, tensor), move->host_offset, tensor.bytes,
                          moves.pool_bytes);
        if (const Move* met = pool.take(*move, tensor.bytes))
            return broken("rank {}: {} lies at {} of the pool, where {} still is", r,
                          label_of(program, tensor), move->host_offset,
                          label_of(program, tensor_of(*met)));
    }
    return {};
}

}  // namespace

Status check_memory(const Program& program, const Rooms& rooms, const MovePlan& plan) {
    for (std::size_t r = 0; r < plan.ranks.size(); ++r) {
        const DeviceUse memory(program.ranks[r], plan.ranks[r], plan);
        const std::int64_t most = rooms.ranks[r].device_bytes;
        if (const auto held = memory.first_above(most); held.bytes > most)
            return broken("rank {}: {} bytes in the device at {}, {} are allowed", r, held.bytes,
                          held.at, most);
    }
    return {};
}

std::vector<std::int64_t> peaks_of(const Program& program, const MovePlan& plan) {
    std::vector<std::int64_t> peaks;
    for (std::size_t r = 0; r < plan.ranks.size(); ++r)
        peaks.push_back(DeviceUse(program.ranks[r], plan.ranks[r], plan)
                            .first_above(std::numeric_limits<std::int64_t>::max())
                            .bytes);
    return peaks;
}

Status check_pools(const Program& program, const Rooms& rooms, const MovePlan& plan) {
    for (std::size_t r = 0; r < plan.ranks.size(); ++r)
        GRADCOLL_TRY(check_pool(program, r, plan.ranks[r]));
    for (const Sharing& host : rooms.hosts)
        if (const std::int64_t pinned = pinned_in(host, plan); pinned > host.most)
            return broken("the pools of a host with devices of rank {} take {} bytes, it has {}",
                          host.devices.front().first, pinned, host.most);
    return {};
}

}  // namespace gradcoll::mover
