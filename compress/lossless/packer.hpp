// compress/lossless/packer.hpp - bytes to fewer bytes and back, without loss, and whole messages
// (compress/frame.hpp), packed and unpacked.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/status.hpp"
#include "compress/packing.hpp"

namespace gradcoll {

/// A Packer is one packing, with the memory that its library works in. Used by one thread at a
/// time; allocates only when it is made.
class Packer {
  public:
    virtual ~Packer() = default;
    virtual Packing packing() const = 0;
    /// Packs to the front of `out`, which does not overlap. Returns how many bytes that took, 0 if
    /// there was no room.
    virtual std::size_t pack(std::span<const std::byte> plain, std::span<std::byte> out) = 0;
    /// Unpacks `packed`, which comes from a peer, untrusted. Returns false if it is no packing of
    /// plain.size() bytes (then `plain` is unspecified). Whatever it is, nothing outside of both is
    /// read or written.
    virtual bool unpack(std::span<const std::byte> packed, std::span<std::byte> plain) = 0;
};

/// Errors: out_of_memory; internal for Packing::none.
Result<std::unique_ptr<Packer>> make_packer(Packing packing);
/// Makes a packer of bytes of which some are more frequent than others, in no order. It is zstd
/// that hardly looks for strings of bytes that come again, and what it packs, zstd unpacks. Errors:
/// out_of_memory.
Result<std::unique_ptr<Packer>> make_byte_packer();

// ---- these are for the functions above alone; they return null if there is no memory

std::unique_ptr<Packer> make_zstd_packer();
std::unique_ptr<Packer> make_zstd_byte_packer();
std::unique_ptr<Packer> make_lz4_packer();

/// Writes the packed form of a message, which has a header, to `out`, which has room for as many
/// bytes. Returns how many it has; 0 if that would not be fewer: then the message goes as it is.
std::size_t pack_message(std::span<const std::byte> message, Packer& packer, std::byte* out);

/// Writes the message that was packed by `packer`, or one that came as it is, to the front of
/// `room`, and returns its length. Every byte comes from a peer. Errors: corrupt, naming what is
/// wrong; the contents of `room` are unspecified then.
Result<std::size_t> unpack_message(std::span<const std::byte> message, Packer& packer,
                                   std::span<std::byte> room);

}  // namespace gradcoll
