// compress/block_move_job.hpp - moving encoded blocks as jobs for warps (warp/run_batch.hpp), a
// block an item.
#pragma once

#include "compress/device_jobs.hpp"
#include "warp/memory.hpp"

namespace gradcoll {

struct BlockMoveJob {
    static constexpr std::size_t tile_elems = 1;
    static constexpr std::size_t loose_elems = 1;

    template <class Warp>
    static constexpr void tile(const WarpJob& job, std::size_t block) {
        loose<Warp>(job, block);
    }
    template <class Warp>
    static constexpr void loose(const WarpJob& job, std::size_t block) {
        const CodedBlock from = load_coded_block<Warp>(job.blocks, block);
        const auto to = Warp::template load<std::uint64_t>(coded_block_at(job.to_blocks, block));
        copy<Warp>(job.in + from.offset_bytes, job.out + to, from.size_bytes);
        if (Warp::lane() == 0)
            store_coded_block<Warp>(job.to_blocks, block, {to, from.size_bytes, from.is_plain});
    }

  private:
    /// Copies by the longest words that both ends are aligned to. What is left is less than a word.
    template <class Warp>
    static constexpr void copy(const std::byte* from, std::byte* to, std::size_t size_bytes) {
        std::size_t done = 0;
        if (is_aligned<16>(from) && is_aligned<16>(to))
            done = copy_words<Warp, Words<4>>(from, to, size_bytes);
        else if (is_aligned<4>(from) && is_aligned<4>(to))
            done = copy_words<Warp, Words<1>>(from, to, size_bytes);
        else if (is_aligned<2>(from) && is_aligned<2>(to))
            done = copy_words<Warp, std::uint16_t>(from, to, size_bytes);
        copy_words<Warp, std::uint8_t>(from + done, to + done, size_bytes - done);
    }
    /// Returns how many bytes were copied.
    template <class Warp, class Word>
    static constexpr std::size_t copy_words(const std::byte* from, std::byte* to,
                                            std::size_t size_bytes) {
        const std::size_t words = size_bytes / sizeof(Word);
#pragma unroll 4
        for (std::size_t i = Warp::lane(); i < words; i += warp_lanes)
            Warp::store(to + i * sizeof(Word), Warp::template load<Word>(from + i * sizeof(Word)));
        return words * sizeof(Word);
    }
};

}  // namespace gradcoll
