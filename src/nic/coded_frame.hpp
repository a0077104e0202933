// nic/coded_frame.hpp - frames whose elements are encoded on their way: by the sending agent, or by
// the rank itself where agents are of no more use. Both do it here, so that both give the same
// bits.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "compress/codec.hpp"
#include "compress/frame.hpp"
#include "compress/lossless/packer.hpp"
#include "nic/layout.hpp"
#include "nic/two_streams.hpp"

namespace gradcoll {

/// Returns how many elements a frame of `frame_bytes` may have, in both of its forms: whole
/// blocks of every codec. 0 if it has no room for one block.
std::size_t coded_frame_elems(const Codec& codec, std::size_t frame_bytes);
/// Frames of this length have room for a block of any codec and type.
inline constexpr std::size_t least_coded_frame_bytes = std::size_t{16} << 10;

/// Returns what the codec's number and parameters stand for in a frame's entry.
NicCoding coding_of(const Codec& codec);
/// Returns where the elements begin in what ranks have of a frame.
constexpr std::size_t plain_header_bytes(NicCoding coding) {
    return coding == NicCoding::none ? 0 : frame_header_bytes;
}
/// Writes the plain form's header for `count` elements; a message that travels as it is has the
/// same (compress/frame.hpp).
void write_plain_header(const Codec& codec, std::size_t count, std::byte* out);
/// Returns the elements of a frame, in its plain form, if they are of that codec. Errors: corrupt.
Result<std::span<const std::byte>> elements_of_plain(const Codec& codec,
                                                     std::span<const std::byte> frame);
/// Returns a number that is the same in two processes that know the same codecs by the same
/// numbers.
std::uint64_t digest_of_codecs();

/// A FrameCoder turns one form of a frame into the other. The plain form is a header and the
/// elements; the coded one is a message of them as compress/README.md has it, packed once more if
/// the codec says so, or a batch of its two streams. Both are checked: each comes from another
/// process. Used by one thread at a time; allocates until its memory is as long as frames are.
class FrameCoder {
  public:
    /// Returns the coded form, valid until the next call. If nothing is said of packing, its
    /// streams are packed as far as that pays and takes no longer than `spare_ns`
    /// (nic/two_streams.hpp). Errors: corrupt for what is no plain form of that coding; unsupported
    /// for a codec that is not there; internal if the codec does what it must not.
    Result<std::span<const std::byte>> encode(std::span<const std::byte> plain, NicCoding coding,
                                              std::uint64_t spare_ns = 0);
    /// Returns what encode() has packed, which is faster to decode; valid as long.
    std::span<const std::byte> encoded() const { return encoded_; }
    /// Writes the plain form to the front of `room`, and returns its size in bytes. Errors:
    /// corrupt.
    Result<std::size_t> decode(std::span<const std::byte> coded, std::span<std::byte> room);

  private:
    Result<std::size_t> encode_fixed(const Codec& codec, std::span<const std::byte> elements);
    Result<std::size_t> encode_blocks(const Codec& codec, std::span<const std::byte> elements);
    Status decode_blocks(const Codec& codec, std::span<const std::byte> payload,
                         std::span<std::byte> elements) const;
    Result<std::span<const std::byte>> unpacked(std::span<const std::byte> coded,
                                                std::size_t most_bytes);
    Result<Packer*> packer(Packing packing);

    TwoStreams streams_;
    std::span<const std::byte> encoded_;
    std::vector<std::byte> message_;
    std::vector<std::byte> packed_;
    std::array<std::unique_ptr<Packer>, packing_count> packers_;
};

}  // namespace gradcoll
