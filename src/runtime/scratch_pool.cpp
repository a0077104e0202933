#include "runtime/scratch_pool.hpp"

namespace gradcoll {

/// An Area belongs to whoever sets `is_lent`; the sizes are read by others, who only guess with
/// them.
struct ScratchLease::Area {
    std::atomic<bool> is_lent{true};
    std::atomic<std::size_t> size_bytes{0};
    Arena arena;
    std::uint64_t last_wanted =
        0;  ///< number of the last borrowing that wanted at least half of it
    Area* older = nullptr;
};

ScratchLease& ScratchLease::operator=(ScratchLease&& other) noexcept {
    if (this == &other) return *this;
    give_back();
    pool_ = std::exchange(other.pool_, nullptr);
    area_ = std::exchange(other.area_, nullptr);
    return *this;
}

std::byte* ScratchLease::data() const {
    return area_ != nullptr ? area_->arena.data() : nullptr;
}

void ScratchLease::give_back() {
    if (area_ == nullptr) return;
    pool_->give_back(*std::exchange(area_, nullptr));
}

ScratchPool::~ScratchPool() {
    for (Area* area = areas_; area != nullptr;) delete std::exchange(area, area->older);
}

/// Returns null if all are lent.
ScratchPool::Area* ScratchPool::best_free(std::size_t bytes) const {
    Area* best = nullptr;
    std::size_t best_bytes = 0;
    for (Area* area = areas_.load(std::memory_order_acquire); area != nullptr; area = area->older) {
        if (area->is_lent.load(std::memory_order_relaxed)) continue;
        const std::size_t size = area->size_bytes.load(std::memory_order_relaxed);
        const bool fits = size >= bytes;
        const bool best_fits = best_bytes >= bytes;
        const bool better = fits != best_fits ? fits : fits ? size < best_bytes : size > best_bytes;
        if (best != nullptr && !better) continue;
        best = area;
        best_bytes = size;
    }
    return best;
}

ScratchPool::Area& ScratchPool::take_area(std::size_t bytes) {
    while (Area* const area = best_free(bytes))
        if (!area->is_lent.exchange(true, std::memory_order_acquire)) return *area;
    return add_area();
}

ScratchPool::Area& ScratchPool::add_area() {
    auto* const area = new Area;
    area->older = areas_.load(std::memory_order_relaxed);
    while (!areas_.compare_exchange_weak(area->older, area, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
    return *area;
}

void ScratchPool::note_size(Area& area) {
    const std::size_t now = area.arena.capacity_bytes();
    held_bytes_.fetch_add(now - area.size_bytes.exchange(now, std::memory_order_relaxed),
                          std::memory_order_relaxed);
}

/// Frees the area before it reserves more: what was in it is not wanted any more, so both need not
/// be there at once.
Status ScratchPool::grow(Area& area, std::size_t bytes) {
    area.arena = Arena();
    Status grown = area.arena.reserve(bytes);
    note_size(area);
    return grown;
}

Result<ScratchLease> ScratchPool::borrow(std::size_t bytes) {
    if (bytes == 0) return ScratchLease();
    // If two threads count at once and one count is lost, memory is kept a little longer.
    const std::uint64_t now = borrowings_.load(std::memory_order_relaxed) + 1;
    borrowings_.store(now, std::memory_order_relaxed);
    Area& area = take_area(bytes);
    ScratchLease lease(*this, area);
    if (area.arena.capacity_bytes() < bytes) GRADCOLL_TRY(grow(area, bytes));
    if (bytes >= area.arena.capacity_bytes() / 2) area.last_wanted = now;
    return lease;
}

void ScratchPool::give_back(Area& area) {
    area.is_lent.store(false, std::memory_order_release);
    const std::uint64_t now = borrowings_.load(std::memory_order_relaxed);
    if (now % borrowings_between_looks == 0)
        free_idle([now](const Area& idle) { return idle.last_wanted + borrowings_kept < now; });
}

void ScratchPool::trim() {
    free_idle([](const Area&) { return true; });
}

template <class Which>
void ScratchPool::free_idle(const Which& which) {
    for (Area* area = areas_.load(std::memory_order_acquire); area != nullptr; area = area->older) {
        if (area->is_lent.exchange(true, std::memory_order_acquire)) continue;
        if (which(*area)) {
            area->arena = Arena();
            note_size(*area);
        }
        area->is_lent.store(false, std::memory_order_release);
    }
}

}  // namespace gradcoll
