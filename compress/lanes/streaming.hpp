// compress/lanes/streaming.hpp - kernels whose large results go past the caches.
//
// A result larger than the caches pushes everything else out, and each of its lines is read before
// it is written. So a large one is made piece by piece on the stack and leaves from there with
// non-temporal stores, at any alignment. The bytes are the same. What is read again soon comes in
// smaller calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/lanes/fixed_rate.hpp"
#include "memory/copy.hpp"

namespace gradcoll {
namespace {

/// Results from here up are streamed (docs/benchmarks.md, "Codec kernels").
inline constexpr std::size_t streaming_bytes = 8u << 20;

/// Copies to a place that need not be aligned: whole lines past the caches, what lies before and
/// behind them with plain stores. Others see it after Lanes::fence().
template <class Lanes>
inline void stream_copy(std::byte* to, const std::byte* from, std::size_t size_bytes) {
    constexpr std::size_t line = 64, step = sizeof(typename Lanes::Reg);
    const std::size_t to_line = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
    const std::size_t head = to_line < size_bytes ? to_line : size_bytes;
    const std::size_t end = head + (size_bytes - head) / line * line;
    std::memcpy(to, from, head);
    for (std::size_t at = head; at < end; at += line)
        for (std::size_t part = 0; part < line; part += step)
            Lanes::stream(to + at + part, Lanes::load(from + at + part));
    std::memcpy(to + end, from + end, size_bytes - end);
}

/// Copies, and streams what is large.
template <class Lanes>
inline void copy_large(void* to, const void* from, std::size_t size_bytes) {
    if constexpr (Lanes::streams) {
        if (size_bytes >= streaming_bytes) {
            stream_copy<Lanes>(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                               size_bytes);
            Lanes::fence();
            return;
        }
    }
    if (size_bytes != 0) copy_long(to, from, size_bytes);
}

/// Streaming has the functions of `Codec` (those that fixed_rate.hpp wants), with large results
/// streamed. Plain and Residual are the types of an element; `piece` elements, a multiple of the
/// codec's block, encode to coded_bytes, and a message is the encodings of its pieces one after
/// another.
template <class Codec, class Lanes, class Plain, class Residual, std::size_t piece,
          std::size_t coded_bytes>
class Streaming {
    static constexpr std::size_t plain_bytes = piece * sizeof(Plain);

  public:
    static constexpr std::size_t bytes(std::size_t count) { return Codec::bytes(count); }

    static void encode(const void* in, std::size_t count, std::byte* out) {
        if (!is_large(count / piece * coded_bytes)) return Codec::encode(in, count, out);
        in_pieces<coded_bytes>(count, out, [in](std::size_t p, std::size_t elems, std::byte* to) {
            Codec::encode(at(in, p * plain_bytes), elems, to);
            return true;
        });
    }
    static void encode_with_residual(const void* in, void* residual, std::size_t count,
                                     std::byte* out) {
        if (!is_large(count / piece * coded_bytes))
            return Codec::encode_with_residual(in, residual, count, out);
        in_pieces<coded_bytes>(count, out, [=](std::size_t p, std::size_t elems, std::byte* to) {
            auto* rest = static_cast<std::byte*>(residual) + p * piece * sizeof(Residual);
            Codec::encode_with_residual(at(in, p * plain_bytes), rest, elems, to);
            return true;
        });
    }
    static bool decode(const std::byte* in, std::size_t count, void* out) {
        if (!is_large(count * sizeof(Plain))) return Codec::decode(in, count, out);
        return in_pieces<plain_bytes>(count, out,
                                      [in](std::size_t p, std::size_t elems, std::byte* to) {
                                          return Codec::decode(in + p * coded_bytes, elems, to);
                                      });
    }
    /// Streams unless `out` is `base`: then its lines are in the cache already.
    static bool decode_sum(const std::byte* in, std::size_t count, const void* base, void* out) {
        if (base == out || !is_large(count * sizeof(Plain)))
            return Codec::decode_sum(in, count, base, out);
        return in_pieces<plain_bytes>(count, out,
                                      [=](std::size_t p, std::size_t elems, std::byte* to) {
                                          return Codec::decode_sum(in + p * coded_bytes, elems,
                                                                   at(base, p * plain_bytes), to);
                                      });
    }

  private:
    static constexpr bool is_large(std::size_t result_bytes) {
        return Lanes::streams && result_bytes >= streaming_bytes;
    }
    static const std::byte* at(const void* array, std::size_t offset) {
        return static_cast<const std::byte*>(array) + offset;
    }

    /// Calls make(index, elements, to) for each piece, to make it on the stack, from where it is
    /// streamed to `out`, or there itself, if it is the last one and not whole.
    template <std::size_t result_bytes, class Make>
    static bool in_pieces(std::size_t count, void* out, Make make) {
        auto* to = static_cast<std::byte*>(out);
        if constexpr (Lanes::streams) {
            alignas(64) std::byte made[result_bytes];
            for (std::size_t p = 0; p < count / piece; ++p) {
                if (!make(p, piece, made)) return false;
                stream_copy<Lanes>(to + p * result_bytes, made, result_bytes);
            }
            Lanes::fence();
        }
        const std::size_t whole = count / piece;
        return count % piece == 0 || make(whole, count % piece, to + whole * result_bytes);
    }
};

template <class Codec, class Lanes, class Plain, class Residual, std::size_t piece,
          std::size_t coded_bytes>
Kernels streaming_kernels() {
    return fixed_rate_kernels<Streaming<Codec, Lanes, Plain, Residual, piece, coded_bytes>>();
}

}  // namespace
}  // namespace gradcoll
