// nic/two_streams.hpp - the message of a quantizer as a batch of two streams: the quantized values
// and the originals of those that would have lost too much, each packed by itself without loss
// (docs/nic.md, "Two streams").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compress/codec.hpp"
#include "compress/frame.hpp"
#include "compress/lossless/packer.hpp"

namespace gradcoll {

/// Returns whether the codec's blocks are quantized values and originals.
bool has_two_streams(const Codec& codec);

/// StreamSection is a part of a stream whose bytes are alike: each is packed by itself.
enum class StreamSection : std::uint8_t {
    codes_of_4,  ///< two values a byte
    codes_of_8,
    low_of_16,  ///< low bytes of values of 16 bits
    high_of_16,
    originals
};
inline constexpr std::size_t stream_sections = 5;

/// PackingPace keeps how long packing takes and what it leaves, as measured, and decides by that.
class PackingPace {
  public:
    /// Returns whether so many bytes are to be packed, if that may take `spare_ns`.
    bool is_worth(std::size_t bytes, std::uint64_t spare_ns);
    /// Takes note of a section that was packed.
    void note(std::size_t bytes, std::size_t packed_bytes, std::uint64_t took_ns);

  private:
    double ns_a_byte_ = 4;
    double part_ = 0;
    unsigned left_alone_ = 0;  ///< sections since one was packed
};

/// TwoStreams makes batches of messages, and messages of batches. Used by one thread at a time;
/// allocates until its memory is as long as frames are.
class TwoStreams {
  public:
    /// Returns the batch of a message that this process has encoded, with `count` elements; valid
    /// until the next call. Returns nothing if it would be no shorter, or if packing would take
    /// longer than `spare_ns`, as far as is known.
    Result<std::span<const std::byte>> split(const Codec& codec, std::size_t count,
                                             std::span<const std::byte> message,
                                             std::uint64_t spare_ns);
    /// Returns whether the bytes begin as a batch does.
    static bool is_batch(std::span<const std::byte> coded);
    /// Writes the message of a batch, which comes from another process, to the front of `room`, and
    /// returns its length. What blocks contain is not looked at. Errors: corrupt.
    Result<std::size_t> join(std::span<const std::byte> batch, std::span<std::byte> room);

  private:
    using Bytes = std::vector<std::byte>;

    Status cut(const Codec& codec, std::size_t count, std::span<const std::byte> message);
    void cut_fixed(const Codec& codec, std::size_t count, std::span<const std::byte> payload);
    void cut_block(const Codec& codec, std::size_t elems, std::span<const std::byte> block);
    void add_codes(unsigned bits, std::span<const std::byte> codes);
    Bytes& section(StreamSection which) { return plain_[static_cast<std::size_t>(which)]; }
    Result<std::span<const std::byte>> packed(std::size_t which, const Codec& codec);
    Result<std::span<const std::byte>> packed_originals(const Codec& codec);

    /// Front is what a batch begins with.
    struct Front {
        FrameHeader header;
        Codec codec;
        std::array<std::uint32_t, stream_sections> lengths{};  ///< as they travel
    };
    static Result<Front> read_front(std::span<const std::byte> batch, std::size_t room_bytes);
    /// Head says of a block what is in which stream.
    struct Head {
        unsigned bits = 0;  ///< bits of a code; 0: no codes
        bool is_plain = false;
        std::size_t elems = 0, originals = 0;
        std::span<const std::byte> grid;  ///< scale and offset
    };
    Status read_heads(const Front& front, std::span<const std::byte>& rest);
    static std::size_t block_bytes(const Codec& codec, const Head& head);
    std::size_t write_lengths(const Codec& codec, std::byte* out) const;
    Result<std::size_t> message_bytes(const Front& front) const;
    Status unpack(const Front& front, std::span<const std::byte> rest);
    Status unpack_originals(const Codec& codec, std::span<const std::byte> packed);
    void put_together(const Front& front, std::span<std::byte> room);
    std::byte* put_block(const Front& front, const Head& head, std::byte* to);
    Result<Packer*> packer();

    std::array<PackingPace, stream_sections> paces_;
    std::unique_ptr<Packer> packer_;
    std::vector<Head> heads_;
    Bytes head_bytes_;
    std::array<Bytes, stream_sections> plain_;
    std::array<Bytes, stream_sections> packed_;
    /// How far put_together() has got in each section.
    std::array<std::size_t, stream_sections> taken_{};
    Bytes batch_;
};

}  // namespace gradcoll
