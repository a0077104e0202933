// engine/messages.hpp - what ranks tell the coordinator of an engine, and what it tells them: bytes
// of a message are records one after another. What is read comes from a peer and is not believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "topology/bytes.hpp"

namespace gradcoll {

/// One message has at most this many bytes; a rank that has more to say sends another when the
/// first has gone.
inline constexpr std::size_t control_message_bytes = 16384;
inline constexpr std::size_t most_name_bytes = 255;
inline constexpr std::size_t most_shape_bytes = 255;
inline constexpr std::size_t most_error_bytes = 2048;

/// A gradient that the coordinator has not numbered has this number.
inline constexpr std::uint32_t unnumbered = 0xffffffffU;

/// Said is what a rank says of a gradient whenever it has it ready.
struct Said {
    std::int32_t priority = 0;
    std::uint32_t pack = 0;
    std::uint64_t bytes = 0;
    std::uint64_t shape = 0;
    bool operator==(const Said&) const = default;
};

/// Ready says that a rank has a gradient to sum. On the wire, little endian: u32 number, i32
/// priority, u64 bytes, u64 shape, u32 pack, i32 rank, then name, shape text and error, each as u32
/// length and bytes. As before, it is u32 number with bit 31 set; the number is not 2^31 - 1 then.
struct Ready {
    std::uint32_t number = unnumbered;
    std::int32_t priority = 0;  ///< higher goes first
    std::uint64_t bytes = 0;    ///< size of what its sum sends
    std::uint64_t shape = 0;    ///< hash of all that ranks must have alike
    std::uint32_t pack = 0;     ///< gradients of one number may be summed as one; 0: only by itself
    std::string name;           ///< empty if it has a number
    std::string shape_text;     ///< for people; empty if the rank has sent it for this gradient
    std::int32_t rank = 0;      ///< a rank that has this shape
    std::string error;          ///< how the ranks of a host differ; empty if they do not
    bool as_before = false;     ///< only the number is said; the rank has said the rest before

    Said said() const { return {priority, pack, bytes, shape}; }
};

/// A Verdict lets all ranks begin this sum now, or give it up. On the wire: u32 number, u8 with bit
/// 0: more, bit 1: links_carry is said, then name and error, each as u32 length and bytes, and f64
/// links_carry if it is said. If it has neither name, error nor links_carry, it is u32 number with
/// bit 31 set, and bit 30 for more; the number is below 2^30 - 1 then.
struct Verdict {
    std::uint32_t number = 0;
    bool more = false;  ///< it is summed as one with that of the next verdict
    std::string name;   ///< the first time only: from now on this is its number
    std::string error;  ///< why it is given up; empty: it begins
    /// The gradient is planned, from its next sum on, for this part of what is said of links
    /// between hosts; 0 if it stays as before.
    double links_carry = 0;
};

/// Writes a record. Texts are cut at their most bytes.
void write(const Ready& ready, ByteWriter& out);
void write(const Verdict& verdict, ByteWriter& out);
/// One write() adds at most this many bytes.
inline constexpr std::size_t most_record_bytes =
    64 + most_name_bytes + most_shape_bytes + most_error_bytes;
static_assert(most_record_bytes <= control_message_bytes);

/// Reads a record. Errors: corrupt if the bytes end too early or a text is too long.
Status read(ByteReader& in, Ready& out);
Status read(ByteReader& in, Verdict& out);

}  // namespace gradcoll
