// transport/shm/layout.hpp - what lies where in the memory that ranks of a host exchange messages
// through. Every word has one writer: the rank whose part it is in.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/status.hpp"

namespace gradcoll {

enum class RecordKind : std::uint8_t {
    inlined = 1,  ///< a whole small message
    announce,     ///< a message, perhaps with its first bytes in a run of cells
    piece,        ///< more bytes of a message that was pulled, in a run of cells
    pull,         ///< from the receiver: send the rest in pieces
    done,         ///< from the receiver: nothing more is wanted of this message
    retract       ///< from the sender: the rest of this message will not come
};

/// MessageNote is what records other than inlined ones say. Ids are of their owner's making; peers
/// give them back.
struct MessageNote {
    std::uint64_t sender_id = 0;
    std::uint64_t receiver_id = 0;
    std::uint64_t size_bytes = 0;  ///< size of the whole message
    std::uint64_t address = 0;     ///< where it is in the sender's process; 0: not to be read there
    std::uint32_t epoch = 0;       ///< epoch of the sender when it announced
    std::uint32_t first_cell = 0;
    std::uint64_t run_bytes = 0;  ///< size of what is in cells from the first; 0: nothing
};

/// RecordBody is one record without the word that says that it is there.
struct RecordBody {
    static constexpr std::size_t inline_limit = 48;

    RecordKind kind = RecordKind::inlined;
    std::uint8_t inline_bytes = 0;
    std::uint16_t group = 0;  ///< group of receives that the message may meet
    std::int32_t tag = 0;
    std::array<std::byte, inline_limit> payload = {};  ///< the bytes, or a MessageNote

    MessageNote note() const;
    static RecordBody of(RecordKind kind, std::int32_t tag, const MessageNote& note);
};
static_assert(sizeof(MessageNote) == RecordBody::inline_limit);

using SharedCounter = std::atomic<std::uint64_t>;
static_assert(SharedCounter::is_always_lock_free);

/// A Record is one cache line. `turn` is one more than the number of records before this one in its
/// outbox.
struct alignas(64) Record {
    SharedCounter turn{0};
    RecordBody body;
};
static_assert(sizeof(Record) == 64);

/// Feedback is what a rank tells one peer about that peer's records and cells.
struct alignas(64) Feedback {
    SharedCounter taken{0};            ///< how many records of the peer's outbox were taken
    SharedCounter inlined_matched{0};  ///< inlined messages of the peer that met their receive
    SharedCounter released{0};  ///< bit c flips when the peer's run that begins in cell c was read
};

/// PartHeader is what a rank tells all peers.
struct alignas(64) PartHeader {
    std::atomic<std::uint32_t> epoch{0};  ///< counts on before announced sends are given up
};

/// ShmLayout has the offsets, which are the same on every rank. Each rank has one part, in rank
/// order: PartHeader, a Feedback for each rank, an outbox for each rank, cells. Objects begin their
/// lives as zeros.
class ShmLayout {
  public:
    static constexpr int cell_count = 64;  ///< bits of a word
    /// Errors: invalid_argument if there is too little for the rings and cells.
    static Result<ShmLayout> make(std::byte* memory, int rank_count, std::size_t bytes_a_rank);
    /// Returns the size that leaves about this much for cells; a multiple of a page.
    static std::size_t bytes_a_rank_for(int rank_count, std::size_t cells_bytes);

    int rank_count() const { return rank_count_; }
    /// Returns the number of slots of an outbox. A pair has 256 bytes at most where there are many
    /// ranks.
    int slots() const { return slots_; }
    std::size_t cell_bytes() const { return cell_bytes_; }

    PartHeader& header(int of) const;
    Feedback& feedback(int of, int about) const;
    Record* outbox(int of, int to) const;
    std::byte* cell(int of, int index) const;

  private:
    std::byte* part(int rank) const {
        return memory_ + bytes_a_rank_ * static_cast<std::size_t>(rank);
    }

    std::byte* memory_ = nullptr;
    int rank_count_ = 0;
    int slots_ = 0;
    std::size_t bytes_a_rank_ = 0;
    std::size_t cells_offset_ = 0;
    std::size_t cell_bytes_ = 0;
};

}  // namespace gradcoll
