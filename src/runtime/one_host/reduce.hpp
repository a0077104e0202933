// runtime/one_host/reduce.hpp - exact reduction to one of several ranks that share memory.
#pragma once

#include <vector>

#include "runtime/one_host/allreduce.hpp"
#include "runtime/one_host/pieces.hpp"

namespace gradcoll {

/// OneHostReduceCall is one reduction as a rank sees it. Only the root's `vector` has an output.
struct OneHostReduceCall {
    OneHostCall vector;
    int root = 0;
};

/// OneHostReduce has two ways. Up to 8 ranks and flat_max_bytes the others copy in and the root
/// combines; with short vectors nobody but the root waits. Beyond, it is an allreduce whose result
/// only the root copies out. The result has the bits of the allreduce of the same vectors.
/// Used by one thread at a time. Allocates only when made; takes no lock; makes system calls only
/// while it waits for long.
class OneHostReduce final : public Startable {
  public:
    /// One piece is copied in while the one before is combined.
    static constexpr std::size_t usual_piece_bytes = 16 << 10;

    /// `group` and `allreduce`, which is of the same group, must outlive it.
    OneHostReduce(SegmentGroup& group, OneHostAllreduce& allreduce, const OneHostChoices& choices,
                  std::size_t piece_bytes = usual_piece_bytes);

    /// Errors: invalid_argument on the root if another rank called otherwise, and on all ranks if
    /// the vector is long. The output is then unspecified.
    Status run(const OneHostReduceCall& call);
    /// Begins a call that nobody waits for, on all ranks.
    Startable& start(const OneHostReduceCall& call);

  private:
    bool is_flat(const OneHostCall& call) const;
    bool gives(const OneHostReduceCall& call) const { return group_.rank() != call.root; }
    Opening opening_of(const OneHostCall& vector) const;
    bool goes_beside_flag(const OneHostCall& vector) const;
    Steps steps_of_started() override;
    Status beside_flag(const OneHostReduceCall& call);
    Steps started_beside_flag(OneHostReduceCall call);
    void put_beside_flag(const OneHostReduceCall& call);
    Status combine_from_flags(const OneHostCall& vector);
    Steps in_pieces(const OneHostReduceCall& call);
    Pieces pieces_of(const OneHostCall& vector) const;
    Steps give_in_pieces(OneHostReduceCall call);
    Steps combine_in_pieces(OneHostReduceCall call);
    template <class SlotOf>
    void combine(const OneHostCall& call, const std::byte* mine, std::byte* out, std::size_t count,
                 SlotOf slot_of);

    OneHostAllreduce& allreduce_;
    OneHostChoices choices_;
    std::size_t piece_bytes_;
    std::vector<const void*> sources_;  ///< one per rank
    OneHostReduceCall started_;
};

}  // namespace gradcoll
