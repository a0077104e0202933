// compress/quant/quant_stream.hpp - a whole message: blocks one after another, the last one of what
// is left (compress/quant/README.md).
#pragma once

#include <cstddef>

#include "compress/feedback/feedback.hpp"
#include "compress/lanes/elementwise.hpp"
#include "compress/quant/quant_scalar_block.hpp"

namespace gradcoll::quant {
namespace {

/// Stream has the functions of a fixed-rate codec (lanes/fixed_rate.hpp) over whole blocks as
/// `Block` codes them.
template <class Block>
class Stream {
    using W = typename Block::Width;
    using Lanes = typename Block::Lanes;
    using Bits = typename Lanes::Format::Bits;
    using Rest = ScalarBlock<W, typename Lanes::Format>;
    static constexpr std::size_t at_once = [] {
        if constexpr (requires { Block::at_once; })
            return Block::at_once;
        else
            return std::size_t{1};
    }();
    static constexpr std::size_t plain_bytes = block_elems * sizeof(Bits);
    static constexpr std::size_t coded_bytes = block_bytes(W::bits, sizeof(Bits), block_elems);

  public:
    static constexpr std::size_t bytes(std::size_t count) {
        return encoded_bytes(W::bits, sizeof(Bits), count);
    }

    static void encode(const void* in, std::size_t count, std::byte* out) {
        const auto* from = static_cast<const std::byte*>(in);
        std::size_t left = count / block_elems;
        if constexpr (at_once > 1)
            for (; left >= at_once; left -= at_once) {
                Block::encode_some(from, out);
                from += at_once * plain_bytes;
                out += at_once * coded_bytes;
            }
        for (; left > 0; --left) {
            Block::encode(from, out);
            from += plain_bytes;
            out += coded_bytes;
        }
        if (count % block_elems != 0) Rest::encode(from, out, count % block_elems);
    }

    static void encode_with_residual(const void* in, void* residual, std::size_t count,
                                     std::byte* out) {
        BlockFeedback<Feedback, Lanes, block_elems>::encode(in, residual, count, out);
    }

    static bool decode(const std::byte* in, std::size_t count, void* out) {
        return decode_all(in, count, [out](auto lanes, std::size_t i, auto values) {
            decltype(lanes)::store(element_at<Bits>(out, i), values);
        });
    }

    static bool decode_sum(const std::byte* in, std::size_t count, const void* base, void* out) {
        return decode_all(in, count, [base, out](auto lanes, std::size_t i, auto values) {
            using L = decltype(lanes);
            const auto sum = sum_of<L>(L::load(element_at<Bits>(base, i)), values);
            L::store(element_at<Bits>(out, i), sum);
        });
    }

  private:
    /// Feedback has what error feedback needs of a codec.
    struct Feedback {
        static constexpr std::size_t encoded_piece_bytes = coded_bytes;
        static constexpr bool fuses_feedback = false;
        static void encode(const void* in, std::size_t count, std::byte* out) {
            const auto* from = static_cast<const std::byte*>(in);
            if (count < block_elems)
                Rest::encode(from, out, count);
            else
                Block::encode(from, out);
        }
        /// The bytes are our own, so restoring cannot fail.
        template <class Step>
        static void restore_each(const std::byte* in, std::size_t count, Step step) {
            (void)Stream::decode_all(in, count, step);
        }
    };

    /// Calls step(lanes, i, values) for the decoded elements from i on.
    template <class Step>
    static bool decode_all(const std::byte* in, std::size_t count, Step step) {
        const std::size_t blocks = count / block_elems, rest = count % block_elems;
        const auto from = [step](std::size_t first) {
            return [step, first](auto lanes, std::size_t i, auto values) {
                step(lanes, first + i, values);
            };
        };
        for (std::size_t b = 0; b < blocks; ++b)
            if (!Block::decode(in + b * coded_bytes, from(b * block_elems))) return false;
        return rest == 0 ||
               Rest::decode(in + blocks * coded_bytes, from(blocks * block_elems), rest);
    }
};

}  // namespace
}  // namespace gradcoll::quant
