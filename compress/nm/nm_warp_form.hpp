// compress/nm/nm_warp_form.hpp - N:M with one element a lane: a warp does a window of 32 elements
// (SPEC S0). For any alignment and for what is behind the last whole block.
#pragma once

#include "compress/device_codec.hpp"
#include "compress/nm/nm_lanes.hpp"
#include "compress/nm/nm_layout.hpp"
#include "reduce/lane_floats.hpp"
#include "warp/memory.hpp"
#include "warp/run_batch.hpp"

namespace gradcoll::nm {

/// WarpMachine is the machine of nm_lanes.hpp: every lane of a Warp runs the same code on its own
/// key.
template <class Warp, class Key>
struct WarpMachine {
    using Keys = Key;
    using Flags = bool;

    template <int x>
    static constexpr Keys exchange(Keys key) {
        return Warp::shuffle(key, Warp::lane() ^ x);
    }
    template <int M, int r>
    static constexpr Keys ahead(Keys key) {
        const unsigned lane = Warp::lane(), place = lane % M;
        return Warp::shuffle(key, lane - place + (place + r) % M);
    }
    template <int M, int below>
    static constexpr Keys less_one_below(Keys key) {
        return key - (Warp::lane() % M < below ? 1 : 0);
    }
    static constexpr Keys max(Keys a, Keys b) { return a > b ? a : b; }
    static constexpr Flags equal(Keys a, Keys b) { return a == b; }
    static constexpr Flags greater(Keys a, Keys b) { return a > b; }
    static constexpr std::uint32_t ballot(Flags flag) { return Warp::ballot(flag); }
};

/// WindowPlace says where the mask word and the kept values of a window of a message lie.
struct WindowPlace {
    std::size_t mask_at, kept_at;  ///< bytes
    std::size_t first_left_over;   ///< byte at which the values of lanes behind the groups begin
    unsigned grouped;              ///< lanes that belong to whole groups
    unsigned present;              ///< lanes that hold an element
};

constexpr unsigned lanes_of(std::size_t elems) {
    return static_cast<unsigned>(elems < window_elems ? elems : window_elems);
}

/// Returns the place of window `index` in a message of `count` elements of `elem_bytes`; both may
/// be beyond 2^31.
template <class S>
constexpr WindowPlace place_of(std::size_t index, std::size_t count, std::size_t elem_bytes) {
    const std::size_t block = index / block_words, in_block = index % block_words;
    const std::size_t start = block * block_bytes<S>(elem_bytes);
    const std::size_t left = count - block * block_elems;
    const std::size_t elems = left < block_elems ? left : block_elems;
    const Tail tail = Tail::of<S>(elems);
    const std::size_t grouped = elems - tail.rest, before = in_block * window_elems;
    const std::size_t values_at = start + tail.mask_words * sizeof(std::uint32_t);

    WindowPlace place{};
    place.mask_at = start + in_block * sizeof(std::uint32_t);
    place.kept_at = values_at + in_block * S::window_kept * elem_bytes;
    place.first_left_over = values_at + tail.kept * elem_bytes;
    place.grouped = grouped <= before ? 0 : lanes_of(grouped - before);
    place.present = lanes_of(elems - before);
    return place;
}

constexpr std::uint32_t lowest_bits(unsigned count) {
    return count >= 32 ? 0xffffffffu : (1u << count) - 1u;
}

/// Returns whether the word is legal. Groups that the window has not are filled up before the
/// check.
template <class S>
constexpr bool is_legal_of(std::uint32_t word, unsigned grouped) {
    const std::uint32_t used = lowest_bits(grouped);
    return (word & ~used) == 0 && S::is_legal(S::without_flood(word) | (S::first_kept & ~used));
}

template <class Warp, class S, class Format>
struct WarpForm {
    using Bits = typename Format::Bits;
    using Float = LaneFloat<Warp, Format>;
    using WideBits = typename Float::WideBits;
    using Key = std::conditional_t<sizeof(Bits) == 8, std::int64_t, std::int32_t>;

    template <bool with_residual>
    static constexpr void encode(const WarpJob& job, std::size_t window) {
        const WindowPlace place = place_of<S>(window, job.count, sizeof(Bits));
        const unsigned lane = Warp::lane();
        const std::size_t at = window * window_elems + lane;
        const bool present = lane < place.present;

        Bits value = 0;
        typename Float::Wide wanted = 0;
        if (present) value = Warp::template load<Bits>(job.in + at * sizeof(Bits));
        if constexpr (with_residual) {
            if (present) {
                wanted = Float::wanted(
                    value, Warp::template load<WideBits>(job.residual + at * sizeof(WideBits)));
                value = Float::narrow(wanted);
            }
        }
        const Bits magnitude = Float::magnitude(value);
        const std::uint32_t groups = lowest_bits(place.grouped);
        const std::uint32_t word =
            kept_word<WarpMachine<Warp, Key>, S>(static_cast<Key>(magnitude)) & groups;
        const std::uint32_t flood_lanes =
            flooded<S>(Warp::ballot(magnitude > largest_finite_bits<Format>()) & groups, word);
        if (lane == 0 && place.grouped > 0)
            store_any<Warp>(job.out + place.mask_at, word | flood_lanes);
        const bool sent = put(job.out, place, word, value);
        if constexpr (with_residual) {
            if (keeps(flood_lanes, lane))
                Warp::store(job.residual + at * sizeof(WideBits), WideBits{0});
            else if (present)
                Warp::store(job.residual + at * sizeof(WideBits),
                            Float::unsent(wanted, sent ? value : Bits{0}));
        }
    }

    template <bool with_base>
    static constexpr void decode(const WarpJob& job, std::size_t window) {
        const WindowPlace place = place_of<S>(window, job.count, sizeof(Bits));
        const unsigned lane = Warp::lane();
        const std::uint32_t word =
            place.grouped > 0 ? load_any<Warp, std::uint32_t>(job.in + place.mask_at) : 0u;
        if (!is_legal_of<S>(word, place.grouped)) {
            mark_invalid<Warp>(job);  // the word is the same in all lanes
            return;
        }
        if (lane >= place.present) return;
        const std::uint32_t flood_lanes = S::full_groups_of(word);
        const Bits value =
            keeps(flood_lanes, lane) ? flood<Bits>() : get(job.in, place, S::without_flood(word));
        const std::size_t at = (window * window_elems + lane) * sizeof(Bits);
        if constexpr (with_base)
            Warp::store(job.out + at, Float::template combined<LaneSum>(
                                          Warp::template load<Bits>(job.base + at), value));
        else
            Warp::store(job.out + at, value);
    }

  private:
    /// PayloadPlace says where a lane's value lies in the payload, if it is there: packed at the
    /// prefix count, or behind the groups.
    struct PayloadPlace {
        bool there;
        std::size_t at;
    };
    static constexpr PayloadPlace place_in_payload(const WindowPlace& place, std::uint32_t word) {
        const unsigned lane = Warp::lane();
        if (keeps(word, lane)) {
            const std::size_t before = Warp::ones(kept_before(word, lane));
            return {true, place.kept_at + before * sizeof(Bits)};
        }
        if (lane < place.grouped || lane >= place.present) return {false, 0};
        return {true, place.first_left_over + (lane - place.grouped) * sizeof(Bits)};
    }
    static constexpr bool put(std::byte* out, const WindowPlace& place, std::uint32_t word,
                              Bits value) {
        const PayloadPlace payload = place_in_payload(place, word);
        if (payload.there) store_any<Warp>(out + payload.at, value);
        return payload.there;
    }
    static constexpr Bits get(const std::byte* in, const WindowPlace& place, std::uint32_t word) {
        const PayloadPlace payload = place_in_payload(place, word);
        return payload.there ? load_any<Warp, Bits>(in + payload.at) : Bits{0};
    }
};

}  // namespace gradcoll::nm
