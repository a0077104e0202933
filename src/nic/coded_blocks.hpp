// nic/coded_blocks.hpp - the codec of a message that another process has sent, and the blocks of
// one of variable rate, one after another (compress/README.md, "Variable rate").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "base/refusals.hpp"
#include "base/round.hpp"
#include "compress/block_lengths.hpp"
#include "compress/codec.hpp"
#include "compress/frame.hpp"

namespace gradcoll {

/// Returns the header's codec, which is registered, and is for elements of that type; what it is
/// told may be anything. Errors: corrupt, unsupported.
inline Result<Codec> codec_of(const FrameHeader& header) {
    for (const double told : {header.parameters.abs, header.parameters.rel})
        if (!std::isfinite(told) || told < 0) return corrupt("a frame with tolerance {}", told);
    if (plain(header.codec) == CodecId::exact || header.count_elems == 0)
        return corrupt("a coded frame of {} elements of {}", header.count_elems,
                       name_of(header.codec));
    return codec_for(header.codec, header.parameters, header.type);
}

inline std::size_t block_elems(const Codec& codec) {
    return codec_block_elems(codec.id, codec.parameters);
}
inline std::size_t block_count(const Codec& codec, std::size_t count) {
    return divided_up(count, block_elems(codec));
}

/// CodedBlockBytes is one block: elements at `first`, and the bytes that stand for them.
struct CodedBlockBytes {
    std::size_t first = 0;
    std::size_t elems = 0;
    std::span<const std::byte> bytes;
    bool is_plain = false;  ///< the bytes are the elements
};

/// BlockReader takes the payload of a message apart. What it says comes from another process, and
/// is checked: blocks are within the payload, and no longer than their elements may become.
class BlockReader {
  public:
    /// Makes a reader of `count` elements. Errors: corrupt if lengths are missing.
    static Result<BlockReader> of(const Codec& codec, std::size_t count,
                                  std::span<const std::byte> payload) {
        BlockReader reader(codec, count, payload);
        std::size_t left = block_count(codec, count);
        for (; left > 0; reader.block_at_ += block_length_bytes) {
            if (payload.size() < reader.block_at_ + block_length_bytes)
                return corrupt("{} bytes without the lengths of the last {} blocks", payload.size(),
                               left);
            const BlockEntry entry = read_block_entry(payload.data() + reader.block_at_);
            const std::size_t blocks = entry.is_plain_run ? entry.value : 1;
            if (blocks == 0 || blocks > left) return corrupt("{} plain blocks of {}", blocks, left);
            left -= blocks;
        }
        return reader;
    }

    /// Makes a reader of a payload without lengths, which is the elements themselves.
    static BlockReader of_plain(const Codec& codec, std::size_t count,
                                std::span<const std::byte> payload) {
        BlockReader reader(codec, count, payload);
        reader.plain_left_ = block_count(codec, count);
        return reader;
    }

    bool is_at_end() const { return next_.first == count_; }
    /// Returns the next block; is_at_end() must not hold. Errors: corrupt.
    Result<CodedBlockBytes> next() {
        BlockEntry entry;
        if (plain_left_ == 0) {
            entry = read_block_entry(payload_.data() + entry_at_);
            entry_at_ += block_length_bytes;
            plain_left_ = entry.is_plain_run ? entry.value : 0;
        }
        next_.elems = std::min(block_elems_, count_ - next_.first);
        next_.is_plain = plain_left_ > 0;
        const std::size_t bytes =
            next_.is_plain ? next_.elems * element_bytes(codec_.type) : entry.value;
        if (bytes > payload_.size() - block_at_)
            return corrupt("a block of {} bytes, of which {} are there", bytes,
                           payload_.size() - block_at_);
        if (next_.is_plain)
            --plain_left_;
        else if (bytes >
                 bound_bytes(codec_.id, codec_.parameters, element_bytes(codec_.type), next_.elems))
            return corrupt("a block of {} bytes that is no {} encoding", bytes, name_of(codec_.id));
        next_.bytes = payload_.subspan(block_at_, bytes);
        block_at_ += bytes;
        const CodedBlockBytes block = next_;
        next_.first += next_.elems;
        return block;
    }
    /// Checks that nothing is behind the last block. Errors: corrupt.
    Status end() const {
        return block_at_ == payload_.size()
                   ? Status()
                   : corrupt("{} bytes behind the last block", payload_.size() - block_at_);
    }

  private:
    BlockReader(const Codec& codec, std::size_t count, std::span<const std::byte> payload)
        : codec_(codec), count_(count), block_elems_(block_elems(codec)), payload_(payload) {}

    Codec codec_;
    std::size_t count_;
    std::size_t block_elems_;
    std::span<const std::byte> payload_;
    std::size_t entry_at_ = 0;
    std::size_t block_at_ = 0;
    std::size_t plain_left_ = 0;
    CodedBlockBytes next_;
};

}  // namespace gradcoll
