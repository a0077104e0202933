// compress/block_lengths.hpp - the list of how long the blocks of a message are, behind the header
// of a codec of variable rate (compress/README.md, "Variable rate").
#pragma once

#include <cstddef>

namespace gradcoll {

inline constexpr std::size_t block_length_bytes = 4;  ///< length of an entry

/// Returns whether an encoding is worth its bytes. A block costs an entry at most, and the plain
/// ones beside it another two: so with all of them no message is longer than header and elements.
constexpr bool saves_bytes(std::size_t encoded_bytes, std::size_t plain_bytes) {
    return encoded_bytes + 3 * block_length_bytes <= plain_bytes;
}

/// Puts the list together, block by block. Plain blocks next to each other share an entry.
class BlockLengthsWriter {
  public:
    /// Writes to `out`; if it is null the entries are only counted.
    explicit BlockLengthsWriter(std::byte* out) : out_(out) {}
    void add_encoded(std::size_t size_bytes);
    void add_plain();

    /// Returns whether the message needs the list, which it does not if all its blocks are plain.
    bool has_encoded() const { return has_encoded_; }
    std::size_t size_bytes() const { return entries_ * block_length_bytes; }

  private:
    void put(std::size_t value);

    std::byte* out_;
    std::size_t entries_ = 0;
    std::size_t plain_run_ = 0;
    bool has_encoded_ = false;
};

/// BlockEntry is what an entry says. The entry of a peer may say any number.
struct BlockEntry {
    bool is_plain_run = false;
    std::size_t value =
        0;  ///< length of the next block; or how many from the next one on are plain
};
BlockEntry read_block_entry(const std::byte* in);

}  // namespace gradcoll
