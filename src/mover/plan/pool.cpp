// mover/plan/pool.cpp - see pool.hpp.
#include "mover/plan/pool.hpp"

#include <algorithm>
#include <map>
#include <queue>

namespace gradcoll::mover {
namespace {

constexpr std::int64_t page = 4096;

/// Pieces in use by offset: their ends.
class PoolLayout {
  public:
    std::int64_t place(std::int64_t bytes) {
        std::int64_t offset = 0;
        for (const auto& [begin, end] : pieces_) {
            if (offset + bytes <= begin) break;
            offset = end;
        }
        pieces_.emplace(offset, offset + bytes);
        size_ = std::max(size_, offset + bytes);
        return offset;
    }
    void free(std::int64_t offset) { pieces_.erase(offset); }
    std::int64_t size() const { return size_; }

  private:
    std::map<std::int64_t, std::int64_t> pieces_;
    std::int64_t size_ = 0;
};

}  // namespace

void lay_out_pool(const RankProgram& rank, RankMoves& moves) {
    using End = std::pair<Tick, std::int64_t>;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;
    PoolLayout pool;
    for (Move& move : moves.moves) {
        for (; !ends.empty() && ends.top().first <= move.transfer.start; ends.pop())
            pool.free(ends.top().second);
        const std::int64_t bytes = rank.tensors[static_cast<std::size_t>(move.tensor)].bytes;
        move.host_offset = pool.place(divided_up(bytes, page) * page);
        ends.emplace(move.prefetch.end, move.host_offset);
    }
    moves.pool_bytes = pool.size();
}

}  // namespace gradcoll::mover
