// runtime/one_host/piece_stores.hpp - how one piece of an allreduce is written into its slot, and
// what that has cost when all have read it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"
#include "memory/copy.hpp"
#include "runtime/one_host/segment_group.hpp"

namespace gradcoll {

/// PieceStores times how one piece is stored. Every rank makes one for each of the same pieces, in
/// one order.
class PieceStores {
  public:
    PieceStores() = default;
    PieceStores(SegmentGroup& group, std::size_t size_bytes) : size_bytes_(size_bytes) {
        if (size_bytes < SegmentGroup::least_chosen_bytes) return;
        choice_ = &group.stores_for(size_bytes);
        turn_ = choice_->next();
    }

    bool streaming() const { return turn_.streaming; }

    void copy_in(void* slot, const void* from, std::size_t size_bytes) {
        timed([&] {
            if (turn_.streaming)
                copy_streaming(slot, from, size_bytes);
            else
                copy_bytes(slot, from, size_bytes);
            if (turn_.timed) wait_for_stores();
        });
    }
    /// Does work that reads what others have written for this piece, or writes more for them.
    template <class Work>
    void timed(Work&& work) {
        const std::uint64_t begin_ns = turn_.timed ? now_ns() : 0;
        work();
        if (turn_.timed) ns_ += now_ns() - begin_ns;
    }
    /// Ends the measurement: nothing follows for this piece.
    void end() {
        if (turn_.timed) choice_->note(turn_, size_bytes_, ns_);
    }

  private:
    /// Waits for stores that are still on their way, since they cost time as well. An exchange
    /// waits as a fence does, and is known to ThreadSanitizer.
    static void wait_for_stores() {
        std::atomic<int> drain{0};
        drain.exchange(1, std::memory_order_seq_cst);
    }

    StoreChoice* choice_ = nullptr;
    StoreChoice::Turn turn_;
    std::size_t size_bytes_ = 0;
    std::uint64_t ns_ = 0;
};

}  // namespace gradcoll
