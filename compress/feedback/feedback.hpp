// compress/feedback/feedback.hpp - encoding with error feedback, once for all codecs
// (compress/feedback/README.md).
#pragma once

#include <cstddef>
#include <cstring>

#include "compress/lanes/elementwise.hpp"

namespace gradcoll {
namespace {

/// Encodes for codecs that send each element by itself, in format `Sent`: exact (Input lanes = Sent
/// lanes) and casts. step(lanes, i) gives the wide value of element i; the sent register goes to
/// out.
template <class Lanes, class LoadInput>
inline void encode_elements_with_residual(LoadInput load_input, void* residual, std::size_t count,
                                          std::byte* out) {
    for_lanes<Lanes>(count, [=](auto lanes, std::size_t i) {
        using L = decltype(lanes);
        std::byte* rest = element_at<typename Lanes::Format::Wide>(residual, i);
        const auto wanted = L::add(load_input(lanes, i), L::load_wide(rest));
        const auto sent = L::narrow(wanted);
        L::store(out + i * sizeof(typename Lanes::Format::Bits), sent);
        L::store_wide(rest, L::finite_or_zero(L::subtract(wanted, L::widen(sent))));
    });
}

/// Calls step(lanes, i, values) for what decode(out) writes: at most `piece` elements, on the
/// stack.
template <class Lanes, std::size_t piece, class Decode, class Step>
inline void decode_to_stack(std::size_t elems, Decode decode, Step step) {
    alignas(64) typename Lanes::Format::Bits decoded[piece];
    decode(decoded);
    for_lanes<Lanes>(elems, [&](auto lanes, std::size_t i) {
        step(lanes, i, decltype(lanes)::load(decoded + i));
    });
}

/// BlockFeedback is for codecs that choose among the elements of a block of `piece`. Whole blocks
/// are the codec's own business where it can do them in registers (fuses_feedback). The others are
/// worked on on the stack, so that nothing leaves the first-level cache: wanted = in + residual,
/// encode, decode, residual = wanted - decoded. For the last two, restore_each(encoded, elems,
/// step) calls step(lanes, i, values) for the decoded elements.
template <class Codec, class Lanes, std::size_t piece>
struct BlockFeedback {
    using Bits = typename Lanes::Format::Bits;
    using WideElem = typename Lanes::Format::Wide;

    static constexpr bool rounds = sizeof(WideElem) != sizeof(Bits);

    struct Buffers {
        alignas(64) WideElem wanted[piece];
        alignas(64) Bits rounded[rounds ? piece : 1];  // otherwise `wanted` is what the codec takes

        const void* input() const {
            if constexpr (rounds) return rounded;
            return wanted;
        }
    };

    static void encode(const void* in, void* residual, std::size_t count, std::byte* out,
                       const Codec& codec = {}) {
        std::size_t first = 0;
        if constexpr (Codec::fuses_feedback) {
            const std::size_t fused = Codec::fused_pieces(count) * piece;
            for (; first < fused; first += piece, out += Codec::encoded_piece_bytes)
                Codec::encode_piece_with_residual(element_at<Bits>(in, first),
                                                  element_at<WideElem>(residual, first), out);
        }
        Buffers buffers;
        for (; first < count; first += piece, out += Codec::encoded_piece_bytes) {
            const std::size_t elems = count - first < piece ? count - first : piece;
            encode_piece(element_at<Bits>(in, first), element_at<WideElem>(residual, first), elems,
                         out, buffers, codec);
        }
    }

  private:
    static void encode_piece(const std::byte* in, std::byte* residual, std::size_t elems,
                             std::byte* out, Buffers& buffers, const Codec& codec) {
        for_lanes<Lanes>(elems, [&](auto lanes, std::size_t i) {
            using L = decltype(lanes);
            const auto wanted = L::add(L::widen(L::load(element_at<Bits>(in, i))),
                                       L::load_wide(element_at<WideElem>(residual, i)));
            L::store_wide(buffers.wanted + i, wanted);
            if constexpr (rounds) L::store(buffers.rounded + i, L::narrow(wanted));
        });
        codec.encode(buffers.input(), elems, out);
        codec.restore_each(out, elems, [&](auto lanes, std::size_t i, auto sent) {
            using L = decltype(lanes);
            const auto unsent = L::subtract(L::load_wide(buffers.wanted + i), L::widen(sent));
            L::store_wide(element_at<WideElem>(residual, i), L::finite_or_zero(unsent));
        });
    }
};

}  // namespace
}  // namespace gradcoll
