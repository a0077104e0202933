// runtime/one_host/allgather.hpp - every rank gets the blocks of all ranks that share memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "runtime/one_host/pieces.hpp"
#include "runtime/one_host/segment_group.hpp"

namespace gradcoll {

/// OneHostAllgatherCall is one allgather as a rank sees it.
struct OneHostAllgatherCall {
    const void* input = nullptr;  ///< this rank's block; may be in its place in `output`
    void* output = nullptr;       ///< rank_count blocks in rank order
    std::size_t block_bytes = 0;
    std::uint64_t signature = 0;  ///< differs for calls that differ in kind or bytes
};

/// In a OneHostAllgather everybody copies its block in, and all others' out: short ones beside the
/// flag, long ones in pieces, of which one is written while the one before is read.
/// Used by one thread at a time. Allocates nothing, takes no lock; makes system calls only while it
/// waits for long.
class OneHostAllgather {
  public:
    static constexpr std::size_t usual_piece_bytes = 16 << 10;

    /// The group must outlive this object, and do nothing else meanwhile.
    OneHostAllgather(SegmentGroup& group, std::size_t piece_bytes = usual_piece_bytes)
        : group_(group), piece_bytes_(piece_bytes) {}

    /// Errors: invalid_argument, on all ranks, if signatures differ; the output is then
    /// unspecified.
    Status run(const OneHostAllgatherCall& call);
    /// Returns whether the call needs block slots.
    bool uses_blocks(std::size_t block_bytes) const {
        return block_bytes > group_.sizes().inline_bytes;
    }

  private:
    Status beside_flag(const OneHostAllgatherCall& call);
    Status in_pieces(const OneHostAllgatherCall& call);
    void copy_piece_out(const OneHostAllgatherCall& call, const Pieces& pieces, std::size_t piece);
    void copy_own(const OneHostAllgatherCall& call, std::size_t offset, std::size_t size_bytes);

    SegmentGroup& group_;
    std::size_t piece_bytes_;
};

}  // namespace gradcoll
