// compress/lossless/packed_message.hpp - whole messages (compress/frame.hpp), packed and unpacked.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.hpp"
#include "compress/lossless/packer.hpp"

namespace gradcoll {

/// Writes the packed form of a message, which has a header, to `out`, which has room for as many
/// bytes. Returns how many it has; 0 if that would not be fewer: then the message goes as it is.
std::size_t pack_message(std::span<const std::byte> message, Packer& packer, std::byte* out);

/// Writes the message that was packed by `packer`, or one that came as it is, to the front of
/// `room`, and returns its length. Every byte comes from a peer. Errors: corrupt, naming what is
/// wrong; the contents of `room` are unspecified then.
Result<std::size_t> unpack_message(std::span<const std::byte> message, Packer& packer,
                                   std::span<std::byte> room);

}  // namespace gradcoll
