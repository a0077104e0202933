// compress/nm/nm_block.hpp - one whole block of 512 elements: the vector version (a Window) and the
// scalar reference.
//
// A block coder offers, for a Shape S:
//   Lanes          the lanes vocabulary of its instruction set for its format
//   overrun_bytes  how far encode may write, and decode and sum may read, behind the block's
//   encode(in, out)       block_elems elements -> mask words and kept values
//   decode(in, out)       the mask words are legal already; no group is flooded, but for the
//                         scalar reference, which knows those, too
//   sum(in, base, out)    out = base + decoded; `base` may be `out`
//   each(in, step)        calls step(lanes, i, values) for the decoded elements
//   encode_with_residual(in, residual, out)   if fuses_feedback: with error feedback, in one pass
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/lanes/elementwise.hpp"
#include "compress/nm/nm_lanes.hpp"
#include "compress/nm/nm_layout.hpp"
#include "reduce/float_types.hpp"

namespace gradcoll::nm {
namespace {

inline std::uint32_t read_word(const std::byte* mask, std::size_t index) {
    std::uint32_t word;
    std::memcpy(&word, mask + index * sizeof word, sizeof word);
    return word;
}
inline void write_word(std::byte* mask, std::size_t index, std::uint32_t word) {
    std::memcpy(mask + index * sizeof word, &word, sizeof word);
}

/// Clears the residuals of these lanes, of which nothing but NaN arrives, so nothing is left over.
/// Rare.
template <class WideElem>
[[gnu::cold, gnu::noinline]] void clear_residuals(std::uint32_t lanes, std::byte* residual) {
    for (std::size_t i = 0; i < window_elems; ++i)
        if ((lanes >> i & 1u) != 0)
            std::memset(residual + i * sizeof(WideElem), 0, sizeof(WideElem));
}

template <class S, class T>
struct ScalarBlock;

template <class S, class Window, class LanesOfFormat>
struct VectorBlock {
    using Shape = S;
    using Lanes = LanesOfFormat;
    using Bits = typename Lanes::Format::Bits;
    static constexpr std::size_t overrun_bytes = Window::overrun_bytes;
    static constexpr std::size_t window_bytes = window_elems * sizeof(Bits);
    static constexpr std::size_t kept_bytes = S::window_kept * sizeof(Bits);
    static constexpr bool fuses_feedback = true;

    /// Encodes a block. One with a value that is not finite is rare, and encoded once more with
    /// care.
    static void encode(const std::byte* in, std::byte* out) {
        auto largest = Window::none();
        for (std::size_t w = 0; w < block_words; ++w) {
            const typename Window::Values values = Window::load(in + w * window_bytes);
            const typename Window::Keys keys = Window::magnitude(values);
            largest = Window::largest(largest, keys);
            const std::uint32_t word = kept_word<Window, S>(keys);
            write_word(out, w, word);
            Window::template pack<S>(values, word, out + block_mask_bytes + w * kept_bytes);
        }
        if (Window::any_above(largest, finite)) [[unlikely]]
            encode_with_care(in, out);
    }

    /// Keeps all of it in registers: what is sent is known without decoding it again.
    static void encode_with_residual(const std::byte* in, std::byte* residual, std::byte* out) {
        constexpr std::size_t window_residual = window_elems * sizeof(WideElem);
        for (std::size_t w = 0; w < block_words; ++w) {
            const Wanted wanted = wanted_of(in + w * window_bytes, residual + w * window_residual);
            const typename Window::Keys keys = Window::magnitude(wanted.rounded);
            const std::uint32_t word = kept_word<Window, S>(keys);
            write_word(out, w, word);
            Window::template pack<S>(wanted.rounded, word, out + block_mask_bytes + w * kept_bytes);
            const typename Window::Values sent = Window::keep(wanted.rounded, word);
            for (int k = 0; k < Window::registers; ++k) {
                const auto unsent = Lanes::subtract(wanted.wide[k], Lanes::widen(sent.r[k]));
                Lanes::store_wide(residual + w * window_residual + k * register_residual,
                                  Lanes::finite_or_zero(unsent));
            }
            if (Window::any_above(Window::largest(Window::none(), keys), finite)) [[unlikely]] {
                const std::uint32_t lanes = flooded<S>(Window::above(keys, finite), word);
                write_word(out, w, word | lanes);
                clear_residuals<WideElem>(lanes, residual + w * window_residual);
            }
        }
    }

    static void decode(const std::byte* in, std::byte* out) {
        each(in, [out](auto, std::size_t i, typename Lanes::Reg values) {
            Lanes::store(out + i * sizeof(Bits), values);
        });
    }

    static void sum(const std::byte* in, const std::byte* base, std::byte* out) {
        each(in, [base, out](auto, std::size_t i, typename Lanes::Reg values) {
            const typename Lanes::Reg base_values = Lanes::load(base + i * sizeof(Bits));
            Lanes::store(out + i * sizeof(Bits), sum_of<Lanes>(base_values, values));
        });
    }

    /// Calls step for every register of the decoded block.
    template <class Step>
    static void each(const std::byte* in, Step step) {
        for (std::size_t w = 0; w < block_words; ++w) {
            const std::byte* kept = in + block_mask_bytes + w * kept_bytes;
            const typename Window::Values values =
                Window::template unpack<S>(kept, read_word(in, w));
            for (int k = 0; k < Window::registers; ++k)
                step(Lanes{}, w * window_elems + k * Lanes::elems, values.r[k]);
        }
    }

  private:
    using WideElem = typename Lanes::Format::Wide;
    using OneByOne = ScalarBlock<S, typename Lanes::Format>;
    static constexpr Bits finite = largest_finite_bits<typename Lanes::Format>();
    static constexpr std::size_t register_residual = Lanes::elems * sizeof(WideElem);

    [[gnu::cold, gnu::noinline]] static void encode_with_care(const std::byte* in, std::byte* out) {
        OneByOne::encode(in, out);
    }

    /// Wanted is a window of input plus residual, and what it is in the element type.
    struct Wanted {
        typename Lanes::Wide wide[Window::registers];
        typename Window::Values rounded;
    };
    static Wanted wanted_of(const std::byte* in, const std::byte* residual) {
        const typename Window::Values values = Window::load(in);
        Wanted wanted;
        for (int k = 0; k < Window::registers; ++k) {
            wanted.wide[k] = Lanes::add(Lanes::widen(values.r[k]),
                                        Lanes::load_wide(residual + k * register_residual));
            wanted.rounded.r[k] = Lanes::narrow(wanted.wide[k]);
        }
        return wanted;
    }
};

template <class S, class T>
struct ScalarBlock {
    using Shape = S;
    using Lanes = ScalarLanes<T>;
    using Bits = typename T::Bits;
    static constexpr std::size_t overrun_bytes = 0;
    static constexpr bool fuses_feedback = false;

    static void encode(const std::byte* in, std::byte* out) {
        std::byte* kept = out + block_mask_bytes;
        std::memset(out, 0, block_mask_bytes);
        for (std::size_t first = 0; first < block_elems; first += S::M) {
            const std::byte* group = in + first * sizeof(Bits);
            const bool is_flooded = floods(group);
            for (int i = 0; i < S::M; ++i) {
                const bool keep = is_kept(group, i);
                const std::size_t at = first + i;
                const std::size_t w = at / window_elems;
                if (keep || is_flooded)
                    write_word(out, w, read_word(out, w) | 1u << at % window_elems);
                if (!keep) continue;
                std::memcpy(kept, in + at * sizeof(Bits), sizeof(Bits));
                kept += sizeof(Bits);
            }
        }
    }

    static void decode(const std::byte* in, std::byte* out) {
        each(in, [out](auto, std::size_t i, Bits value) {
            std::memcpy(out + i * sizeof value, &value, sizeof value);
        });
    }

    static void sum(const std::byte* in, const std::byte* base, std::byte* out) {
        each(in, [base, out](auto, std::size_t i, Bits value) {
            const Bits base_value = Lanes::load(base + i * sizeof value);
            Lanes::store(out + i * sizeof value, sum_of<Lanes>(base_value, value));
        });
    }

    template <class Step>
    static void each(const std::byte* in, Step step) {
        const std::byte* kept = in + block_mask_bytes;
        for (std::size_t i = 0; i < block_elems; ++i) {
            const std::uint32_t word = read_word(in, i / window_elems);
            const std::uint32_t lane = 1u << i % window_elems;
            Bits value = 0;
            if ((S::full_groups_of(word) & lane) != 0) {
                value = flood<Bits>();
                if (i % S::M < S::N) kept += sizeof value;
            } else if ((word & lane) != 0) {
                std::memcpy(&value, kept, sizeof value);
                kept += sizeof value;
            }
            step(Lanes{}, i, value);
        }
    }

  private:
    /// Returns whether element i of a group is kept: fewer than N others go before it, larger ones,
    /// and equal ones of lower index.
    static bool is_kept(const std::byte* group, int i) {
        const Bits mine = magnitude(group, i);
        int before = 0;
        for (int j = 0; j < S::M; ++j) {
            const Bits other = magnitude(group, j);
            before += other > mine || (other == mine && j < i) ? 1 : 0;
        }
        return before < S::N;
    }
    static bool floods(const std::byte* group) {
        int not_finite = 0;
        for (int i = 0; i < S::M; ++i)
            not_finite += magnitude(group, i) > largest_finite_bits<T>() ? 1 : 0;
        return not_finite > S::N;
    }
    static Bits magnitude(const std::byte* group, int i) {
        constexpr Bits all_but_sign = static_cast<Bits>(~Bits{0}) >> 1;
        return static_cast<Bits>(Lanes::load(group + i * sizeof(Bits)) & all_but_sign);
    }
};

}  // namespace
}  // namespace gradcoll::nm
