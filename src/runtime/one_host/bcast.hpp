// runtime/one_host/bcast.hpp - broadcast to ranks that share memory: the root copies in, everybody
// else copies out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "runtime/one_host/startable.hpp"

namespace gradcoll {

/// OneHostBcastCall is one broadcast as a rank sees it.
struct OneHostBcastCall {
    void* data = nullptr;  ///< read on the root, written on the others
    std::size_t size_bytes = 0;
    int root = 0;
    std::uint64_t signature = 0;  ///< differs for calls that differ in kind, bytes or root
};

/// In a OneHostBcast short vectors lie beside the flag, and the root waits for nobody: it may be
/// some calls ahead. Longer ones travel in pieces, up to four under way, once all ranks have begun
/// the call.
/// Used by one thread at a time. Allocates nothing, takes no lock; makes system calls only while it
/// waits for long.
class OneHostBcast final : public Startable {
  public:
    /// One piece is copied in while the one before is copied out.
    static constexpr std::size_t usual_piece_bytes = 16 << 10;

    /// The group must outlive this object, and do nothing else meanwhile.
    OneHostBcast(SegmentGroup& group, std::size_t piece_bytes = usual_piece_bytes)
        : Startable(group), piece_bytes_(piece_bytes) {}

    /// Errors: invalid_argument on each rank that called otherwise than the root did, or on all
    /// (which includes the root) if some call is long. The data are then unspecified.
    Status run(const OneHostBcastCall& call);
    /// Begins a call that nobody waits for, on all ranks.
    Startable& start(const OneHostBcastCall& call);
    /// Returns whether the call needs block slots.
    bool uses_blocks(std::size_t size_bytes) const {
        return size_bytes > group_.sizes().inline_bytes;
    }

  private:
    Status send_beside_flag(const OneHostBcastCall& call);
    Status receive_beside_flag(const OneHostBcastCall& call);
    Status copy_from_flag(const OneHostBcastCall& call);
    Opening opening_of(const OneHostBcastCall& call) const;
    bool sends(const OneHostBcastCall& call) const { return group_.rank() == call.root; }
    Steps steps_of_started() override;
    Steps started_beside_flag(OneHostBcastCall call);
    Steps in_pieces(const OneHostBcastCall& call) {
        return sends(call) ? send_pieces(call) : receive_pieces(call);
    }
    Steps send_pieces(OneHostBcastCall call);
    Steps receive_pieces(OneHostBcastCall call);
    Status check_like_root(int root);

    std::size_t piece_bytes_;
    OneHostBcastCall started_;
};

}  // namespace gradcoll
