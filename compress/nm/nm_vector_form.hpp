// compress/nm/nm_vector_form.hpp - N:M with whole groups in a thread's registers: a warp does a
// block of 512 elements. Memory is aligned to 16 bytes.
//
// A lane owns `run` neighbouring elements, a group or 16 bytes, whichever is more; lane i of a step
// has the i-th run of a stretch of 32, so that loads and stores of a warp are neighbours, too. All
// loads of a block are on their way before the first value is looked at.
#pragma once

#include "compress/nm/nm_group.hpp"
#include "compress/nm/nm_layout.hpp"
#include "reduce/lane_floats.hpp"
#include "warp/memory.hpp"
#include "warp/run_batch.hpp"

namespace gradcoll::nm {

template <class Warp, class S, class Format>
struct VectorForm {
    using Bits = typename Format::Bits;
    using Float = LaneFloat<Warp, Format>;
    using Wide = typename Float::Wide;
    using WideBits = typename Float::WideBits;
    using InGroup = Group<S, Bits>;

    static constexpr int run_of_16_bytes = static_cast<int>(16 / sizeof(Bits));
    static constexpr int run = S::M > run_of_16_bytes ? S::M : run_of_16_bytes;
    static constexpr int kept = run * S::N / S::M;
    static constexpr int steps = static_cast<int>(block_elems / (warp_lanes * run));
    static constexpr unsigned lanes_of_word = window_elems / run;
    static constexpr std::size_t step_words = run;

    using Values = Run<Bits, run>;
    using Residuals = Run<WideBits, run>;
    using Kept = Run<Bits, kept>;

    template <bool with_residual>
    static constexpr void encode(const WarpJob& job, std::size_t block) {
        const std::size_t first = block * block_elems;
        std::byte* out = job.out + block * block_bytes<S>(sizeof(Bits));
        Values values[steps];
        Residuals residuals[with_residual ? steps : 1];
#pragma unroll
        for (int s = 0; s < steps; ++s) {
            values[s] = load_elements<Warp, Bits, run>(job.in, first + own(s));
            if constexpr (with_residual)
                residuals[s] = load_elements<Warp, WideBits, run>(job.residual, first + own(s));
        }
#pragma unroll
        for (int s = 0; s < steps; ++s) {
            std::uint32_t bits = 0;
            if constexpr (with_residual) {
                bits = encode_with_residual(values[s], residuals[s], out, s);
                store_elements<Warp>(job.residual, first + own(s), residuals[s]);
            } else {
                bits = encode_run(values[s], out, s);
            }
            store_mask(bits, out, s);
        }
    }

    template <bool with_base>
    static constexpr void decode(const WarpJob& job, std::size_t block) {
        const std::size_t first = block * block_elems;
        const std::byte* in = job.in + block * block_bytes<S>(sizeof(Bits));
        std::uint32_t word[steps] = {};
        Kept packed[steps];
        Values base[with_base ? steps : 1];
#pragma unroll
        for (int s = 0; s < steps; ++s) {
            word[s] = Warp::template load<std::uint32_t>(in + mask_at(s));
            packed[s] = load_run<Warp, Bits, kept>(in + kept_at(s));
            if constexpr (with_base)
                base[s] = load_elements<Warp, Bits, run>(job.base, first + own(s));
        }
        bool legal = true;
#pragma unroll
        for (int s = 0; s < steps; ++s) {
            legal = legal && S::is_legal(S::without_flood(word[s]));
            Values values = decode_run(packed[s], word[s] >> bits_before());
            if constexpr (with_base) add_to(values, base[s]);
            store_elements<Warp>(job.out, first + own(s), values);
        }
        if (!legal) mark_invalid<Warp>(job);
    }

  private:
    /// Returns the first element of the lane's run of step s.
    static constexpr std::size_t own(int s) {
        return (static_cast<std::size_t>(s) * warp_lanes + Warp::lane()) * run;
    }
    /// Returns where the kept values of this run lie in the block's encoding; mask_at() returns
    /// where the word of its mask does.
    static constexpr std::size_t kept_at(int s) {
        return block_mask_bytes + own(s) / run * kept * sizeof(Bits);
    }
    static constexpr std::size_t mask_at(int s) {
        return (s * step_words + Warp::lane() / lanes_of_word) * sizeof(std::uint32_t);
    }
    /// Returns the number of bits of that word that belong to lanes before this one.
    static constexpr unsigned bits_before() {
        return Warp::lane() % lanes_of_word * run;
    }

    /// Returns the lane's bits of the mask, and writes its kept values to the block.
    static constexpr std::uint32_t encode_run(const Values& values, std::byte* out, int s) {
        std::uint32_t bits = 0;
        Kept packed{};
#pragma unroll
        for (int g = 0; g < run / S::M; ++g) {
            Bits value[S::M] = {};
            typename InGroup::Key key[S::M] = {};
            Bits chosen[S::N] = {};
#pragma unroll
            for (int i = 0; i < S::M; ++i) {
                value[i] = values.at[g * S::M + i];
                key[i] = InGroup::key_of(value[i]);
            }
            const std::uint32_t kept_here = InGroup::kept_bits(key);
            InGroup::pack(value, kept_here, chosen);
#pragma unroll
            for (int n = 0; n < S::N; ++n) packed.at[g * S::N + n] = chosen[n];
            const std::uint32_t mask =
                InGroup::template floods<Format>(key) ? (1u << S::M) - 1u : kept_here;
            bits |= mask << (g * S::M);
        }
        store_run<Warp>(out + kept_at(s), packed);
        return bits;
    }

    static constexpr std::uint32_t encode_with_residual(const Values& values, Residuals& residuals,
                                                        std::byte* out, int s) {
        Wide wanted[run] = {};
        Values rounded{};
#pragma unroll
        for (int i = 0; i < run; ++i) {
            wanted[i] = Float::wanted(values.at[i], residuals.at[i]);
            rounded.at[i] = Float::narrow(wanted[i]);
        }
        const std::uint32_t bits = encode_run(rounded, out, s);
        const std::uint32_t flood_lanes = S::full_groups_of(bits);
#pragma unroll
        for (int i = 0; i < run; ++i) {
            const bool sent = keeps(bits, static_cast<unsigned>(i));
            const bool is_flooded = keeps(flood_lanes, static_cast<unsigned>(i));
            residuals.at[i] =
                is_flooded ? WideBits{0} : Float::unsent(wanted[i], sent ? rounded.at[i] : Bits{0});
        }
        return bits;
    }

    /// Stores the masks: the bits of neighbouring lanes become their words.
    static constexpr void store_mask(std::uint32_t bits, std::byte* out, int s) {
        std::uint32_t word = bits << bits_before();
#pragma unroll
        for (unsigned x = 1; x < lanes_of_word; x *= 2)
            word |= Warp::shuffle(word, Warp::lane() ^ x);
        if (Warp::lane() % lanes_of_word == 0) Warp::store(out + mask_at(s), word);
    }

    static constexpr Values decode_run(const Kept& packed, std::uint32_t bits) {
        Values values{};
#pragma unroll
        for (int g = 0; g < run / S::M; ++g) {
            Bits chosen[S::N] = {};
            Bits value[S::M] = {};
#pragma unroll
            for (int n = 0; n < S::N; ++n) chosen[n] = packed.at[g * S::N + n];
            constexpr std::uint32_t all = (1u << S::M) - 1u;
            const std::uint32_t kept_here = bits >> (g * S::M) & all;
            InGroup::unpack(chosen, kept_here, value);
#pragma unroll
            for (int i = 0; i < S::M; ++i)
                values.at[g * S::M + i] = kept_here == all ? flood<Bits>() : value[i];
        }
        return values;
    }

    /// Adds `base`. NaN is rare: a few elements are added as numbers, and again with care if one
    /// came out.
    static constexpr void add_to(Values& values, const Values& base) {
        constexpr int few = run < 8 ? run : 8;
#pragma unroll
        for (int first = 0; first < run; first += few) {
            Bits sums[few] = {};
            bool nan = false;
#pragma unroll
            for (int i = 0; i < few; ++i)
                sums[i] = Float::template combined_numbers<LaneSum>(base.at[first + i],
                                                                    values.at[first + i], nan);
            if (nan) {
#pragma unroll
                for (int i = 0; i < few; ++i)
                    sums[i] =
                        Float::template combined<LaneSum>(base.at[first + i], values.at[first + i]);
            }
#pragma unroll
            for (int i = 0; i < few; ++i) values.at[first + i] = sums[i];
        }
    }
};

}  // namespace gradcoll::nm
