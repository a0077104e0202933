// collectives/plan/schedule.hpp - what one rank does for one chunk of a collective: a flat list of
// small steps. It has no pointers, so it can be cached, printed, compared and simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/plan/range.hpp"
#include "compress/codec_id.hpp"

namespace gradcoll {

/// StepKind names what a step does. Steps `to = X op slot` take X from the user's input if
/// Step::from_input is set (the rank's first contribution to that range in an out-of-place call),
/// else from `to` itself.
enum class StepKind : std::uint8_t {
    send,  ///< from -> peer; the range of input/output/work itself, or a whole scratch slot
    recv,  ///< peer -> to; the range of output/work itself, or a whole scratch slot
    /// Encodes an input/output/work range to payload bytes in scratch (with the residual, if the
    /// plan has feedback).
    encode,
    decode,         ///< payload bytes in scratch -> output/work range
    decode_reduce,  ///< output/work range = X op decode(payload bytes in scratch)
    reduce,         ///< output/work range = X op raw elements in scratch
    /// Copies a range to raw elements in scratch, the reverse, scratch to scratch, or a range to
    /// the same range elsewhere.
    copy
};
/// Returns a literal, so that data() ends with a zero.
std::string_view name_of(StepKind kind);

/// A Space with a Slot names a place: the user's input or output or the work vector (the step's
/// `range` says which elements), or scratch slot `index`. The work vector is the first count_elems
/// elements of the scratch area itself (see Schedule::work_bytes).
enum class Space : std::uint8_t { none, input, output, work, scratch };
struct Slot {
    std::uint32_t space : 3 = 0;
    std::uint32_t index : 29 = 0;

    static Slot none() { return {}; }
    static Slot input() { return {static_cast<std::uint32_t>(Space::input), 0}; }
    static Slot output() { return {static_cast<std::uint32_t>(Space::output), 0}; }
    static Slot work() { return {static_cast<std::uint32_t>(Space::work), 0}; }
    static Slot scratch(std::uint32_t index) {
        return {static_cast<std::uint32_t>(Space::scratch), index & 0x1fffffffU};
    }
    Space where() const { return static_cast<Space>(space); }
    friend bool operator==(const Slot&, const Slot&) = default;
};

struct Step {
    StepKind kind : 7 = StepKind::copy;
    std::uint8_t from_input : 1 = 0;  ///< 1: X is the user's input (see StepKind)
    std::uint8_t level = 0;           ///< height of the vertex - 1: 0 is nearest the leaves
    /// Says how the bytes in scratch are encoded; for send and recv: lossy means "framed".
    CodecId codec = CodecId::exact;
    std::int32_t peer = -1;  ///< rank in the communicator; -1 for local steps
    Slot from;
    Slot to;
    Range range;  ///< elements, relative to the chunk; for a message in scratch [0, its elements)
    /// Says where the step's dependencies begin in Schedule::deps: steps (by index) that must have
    /// completed.
    std::uint32_t first_dep = 0;
    std::uint16_t dep_count = 0;
    /// Numbers the message of a send or recv, the same on both sides and different for every
    /// (phase, vertex, exchange step) that the pair shares.
    std::uint16_t stage = 0;
};
static_assert(sizeof(Step) == 40);

inline std::size_t elems_of(const Step& step) {
    return static_cast<std::size_t>(step.range.size());
}

/// A SlotExtent says where a scratch slot lies in the chunk's scratch area. Slots may lie inside
/// one another: a message is a slot and each of its pieces is one too. A framed message's slot
/// begins with frame_front_bytes() for the header and what follows it. A slot holds the most that
/// its elements can take: if its codec has a variable rate, the number of its bytes is known only
/// when the plan runs. Several sends may leave from one slot (the same message to several peers):
/// their headers are the same.
struct SlotExtent {
    std::uint64_t offset_bytes = 0;  ///< multiple of 64 for messages
    std::uint64_t size_bytes = 0;    ///< its capacity
};

/// A Schedule numbers elements in the chunk's whole vector. If the caller's buffer is only a part
/// of that vector (one block), it begins with element `input_first_elem` or `output_first_elem`:
/// element e lies at buffer position e - first.
struct Schedule {
    std::int64_t count_elems = 0;  ///< elements of the chunk
    std::int64_t input_first_elem = 0;
    std::int64_t output_first_elem = 0;
    std::vector<Step> steps;  ///< every dependency points backwards, so list order is a valid order
    std::vector<std::uint32_t> deps;
    std::vector<SlotExtent> slots;
    std::uint64_t scratch_bytes = 0;  ///< whole scratch area, work vector included
    /// The work vector at the start of the scratch area has so many bytes; 0 if there is none.
    std::uint64_t work_bytes = 0;
    std::uint32_t send_count = 0;  ///< sends + recvs bound the requests in flight
    std::uint32_t recv_count = 0;
    /// This is the sum of the ranges of all encode steps, in step order (0 without feedback).
    std::int64_t residual_elems = 0;
};

/// Returns the bytes of the message of a send or recv step, header included; for a codec of
/// variable rate the most that it can have.
std::uint64_t message_bytes(const Step& step, const Schedule& schedule, std::uint32_t elem_bytes);

/// Returns the golden text form, one line for each step: `3 reduce L1 output[250,500) = input +
/// scratch0 after 1,2`.
std::string to_text(const Schedule& schedule);

}  // namespace gradcoll
