// mover/plan/pool.cpp - see planner_parts.hpp.
#include "mover/plan/planner_parts.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>

namespace gradcoll::mover {
namespace {

constexpr std::int64_t page = 4096;

/// PoolLayout does first fit: it takes the lowest hole that is large enough. Tensors of a step have
/// few sizes, and so have holes; therefore each size keeps its holes by offset. Complexity: log n
/// for each size.
class PoolLayout {
  public:
    PoolLayout() { add_hole(0, endless); }

    std::int64_t place(std::int64_t bytes) {
        auto found = by_size_.end();
        for (auto size = by_size_.lower_bound(bytes); size != by_size_.end(); ++size)
            if (found == by_size_.end() || *size->second.begin() < *found->second.begin())
                found = size;
        const std::int64_t offset = *found->second.begin(), left = found->first - bytes;
        remove_hole(offset, found->first);
        if (left > 0) add_hole(offset + bytes, left);
        pieces_.emplace(offset, bytes);
        size_ = std::max(size_, offset + bytes);
        return offset;
    }

    void free(std::int64_t offset) {
        const auto piece = pieces_.find(offset);
        std::int64_t begin = offset, bytes = piece->second;
        pieces_.erase(piece);
        if (const auto after = holes_.find(begin + bytes); after != holes_.end()) {
            const std::int64_t more = after->second;
            remove_hole(begin + bytes, more);
            bytes += more;
        }
        if (auto before = holes_.lower_bound(begin); before != holes_.begin()) {
            const auto [at, size] = *--before;
            if (at + size == begin) {
                remove_hole(at, size);
                begin = at;
                bytes += size;
            }
        }
        add_hole(begin, bytes);
    }

    std::int64_t size() const { return size_; }

  private:
    /// The hole behind the last piece never ends.
    static constexpr std::int64_t endless = std::int64_t{1} << 62;

    void add_hole(std::int64_t offset, std::int64_t bytes) {
        holes_.emplace(offset, bytes);
        by_size_[bytes].insert(offset);
    }
    void remove_hole(std::int64_t offset, std::int64_t bytes) {
        holes_.erase(offset);
        const auto same = by_size_.find(bytes);
        same->second.erase(offset);
        if (same->second.empty()) by_size_.erase(same);
    }

    std::map<std::int64_t, std::int64_t> holes_;
    std::map<std::int64_t, std::set<std::int64_t>> by_size_;
    std::unordered_map<std::int64_t, std::int64_t> pieces_;
    std::int64_t size_ = 0;
};

}  // namespace

std::int64_t bytes_in_pool(std::int64_t bytes, std::int64_t pieces) {
    return (divided_up(bytes, page) + pieces - 1) * page;
}

void lay_out_pool(const RankProgram& rank, RankMoves& moves) {
    using End = std::pair<std::int32_t, std::int64_t>;  // operator, offset
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;
    PoolLayout pool;
    const auto place = [&](Move& move) {
        const std::int64_t bytes = rank.tensors[static_cast<std::size_t>(move.tensor)].bytes;
        move.host_offset = pool.place(bytes_in_pool(bytes));
    };
    for (Move& move : moves.moves)
        if (move.lives_in_host()) place(move);
    for (Move& move : moves.moves) {
        if (move.lives_in_host()) continue;
        for (; !ends.empty() && ends.top().first <= move.after; ends.pop())
            pool.free(ends.top().second);
        place(move);
        ends.emplace(move.needed_by, move.host_offset);
    }
    moves.pool_bytes = pool.size();
}

}  // namespace gradcoll::mover
