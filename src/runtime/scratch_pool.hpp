// runtime/scratch_pool.hpp - scratch memory of the host for operations that mostly run one after
// another.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/status.hpp"
#include "memory/arena.hpp"

namespace gradcoll {

class ScratchPool;

/// A ScratchLease is memory that nobody else has, until the lease ends or give_back(). Moving hands
/// it over.
class ScratchLease {
  public:
    ScratchLease() = default;
    ScratchLease(ScratchLease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), area_(std::exchange(other.area_, nullptr)) {}
    ScratchLease& operator=(ScratchLease&& other) noexcept;
    ~ScratchLease() { give_back(); }

    /// Returns null if it holds nothing.
    std::byte* data() const;
    void give_back();

  private:
    friend class ScratchPool;
    struct Area;
    ScratchLease(ScratchPool& pool, Area& area) : pool_(&pool), area_(&area) {}

    ScratchPool* pool_ = nullptr;
    Area* area_ = nullptr;
};

/// A ScratchPool has areas of memory, each lent to one operation at a time. There are as many as
/// were ever lent at once, and each grows to the largest that it was wanted for: operations that
/// follow one another share one area, and those that overlap have different ones. Who borrows gets
/// the smallest free area that is large enough; if there is none the largest free one grows. Then
/// the same operations can come again, in turns, and nothing is allocated.
///
/// What it holds shrinks by one rule: an area of which less than half was wanted in the last
/// `borrowings_kept` borrowings of the pool (because it was not lent, or to small operations) is
/// freed; it is looked after every `borrowings_between_looks`. trim() frees all that is not lent.
///
/// Thread safe, without locks. Must outlive its leases.
class ScratchPool {
  public:
    static constexpr std::uint64_t borrowings_kept = 1024;
    static constexpr std::uint64_t borrowings_between_looks = 256;

    ScratchPool() = default;
    ~ScratchPool();
    ScratchPool(const ScratchPool&) = delete;
    ScratchPool& operator=(const ScratchPool&) = delete;

    /// Lends at least `bytes`, aligned as an Arena is, of unspecified content. For 0 bytes the
    /// lease holds nothing. Errors: out_of_memory.
    Result<ScratchLease> borrow(std::size_t bytes);
    void trim();
    /// Returns what all areas hold, lent or not.
    std::size_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }

  private:
    friend class ScratchLease;
    using Area = ScratchLease::Area;

    Area* best_free(std::size_t bytes) const;
    Area& take_area(std::size_t bytes);
    Area& add_area();
    Status grow(Area& area, std::size_t bytes);
    void give_back(Area& area);
    template <class Which>
    void free_idle(const Which& which);
    void note_size(Area& area);

    std::atomic<Area*> areas_{nullptr};  ///< the newest; areas stay until the pool ends
    std::atomic<std::uint64_t> borrowings_{0};
    std::atomic<std::size_t> held_bytes_{0};
};

}  // namespace gradcoll
