// reduce/lane_floats.hpp - arithmetic of one lane of a warp on float formats, with the bits of the
// CPU's kernels. `Warp` converts fp16 (src/warp/README.md); all else is here.
//
// GPUs give one NaN for all; x86 keeps the payload. So the NaN of a sum or product is made of the
// operands' bits: the first one's, quiet, else the second one's; of two numbers (inf - inf) the
// default NaN of x86, which is negative.
#pragma once

#include <cstdint>
#include <type_traits>

#include "reduce/float_types.hpp"

namespace gradcoll {

template <class Format>
struct FloatBits {
    using Bits = typename Format::Bits;
    static constexpr int fraction_bits = Format::fraction_bits;
    static constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    static constexpr Bits fraction = static_cast<Bits>((Bits{1} << fraction_bits) - 1);
    static constexpr Bits infinity = static_cast<Bits>(~(sign | fraction));
    static constexpr Bits quiet = static_cast<Bits>(Bits{1} << (fraction_bits - 1));
    static constexpr Bits default_nan = static_cast<Bits>(sign | infinity | quiet);

    static constexpr Bits magnitude(Bits bits) {
        return static_cast<Bits>(bits & static_cast<Bits>(~sign));
    }
    static constexpr bool is_nan(Bits bits) { return magnitude(bits) > infinity; }
    /// Returns what an operation on a and b gives that gives NaN.
    static constexpr Bits nan_of(Bits a, Bits b) {
        if (is_nan(a)) return static_cast<Bits>(a | quiet);
        return is_nan(b) ? static_cast<Bits>(b | quiet) : default_nan;
    }
};

template <class To, class From>
constexpr To bits_as(From from) {
    return __builtin_bit_cast(To, from);
}

/// WideFormatOf says how a Wide value lies in memory.
template <class Wide>
struct WideFormatOf {
    using type = Fp32;
};
template <>
struct WideFormatOf<double> {
    using type = Fp64;
};

template <class Warp, class Format>
struct LaneFloat : FloatBits<Format> {
    using Bits = typename Format::Bits;
    using Wide = typename Format::Wide;
    using WideBits = typename WideFormatOf<Wide>::type::Bits;

  private:
    using Own = FloatBits<Format>;
    using WideFloat = FloatBits<typename WideFormatOf<Wide>::type>;
    static constexpr int shift = WideFloat::fraction_bits - Own::fraction_bits;
    static constexpr int sign_shift = 8 * (sizeof(WideBits) - sizeof(Bits));

    static constexpr Bits narrow_number(Wide wide) {
        if constexpr (sizeof(Bits) == sizeof(Wide)) {
            return bits_as<Bits>(wide);
        } else if constexpr (std::is_same_v<Format, Fp16>) {
            return Warp::narrow_f16(wide);
        } else {
            const WideBits bits = bits_as<WideBits>(wide);
            return static_cast<Bits>((bits + 0x7fffu + (bits >> shift & 1u)) >> shift);
        }
    }
    static constexpr Bits narrow_nan(WideBits bits) {
        return static_cast<Bits>((bits >> sign_shift & Own::sign) | Own::infinity | Own::quiet |
                                 (bits >> shift & Own::fraction));
    }
    /// Returns an integer for a number, ordered as the numbers are.
    static constexpr std::make_signed_t<Bits> ordered(Bits bits) {
        using Int = std::make_signed_t<Bits>;
        return static_cast<Int>((bits & Own::sign) != 0 ? bits ^ static_cast<Bits>(~Own::sign)
                                                        : bits);
    }
    static constexpr WideBits widen_nan(Bits bits) {
        return static_cast<WideBits>(bits & Own::sign) << sign_shift | WideFloat::infinity |
               static_cast<WideBits>(bits & Own::fraction) << shift;
    }

  public:
    /// Converts exactly; the bits of NaN are the caller's business.
    static constexpr Wide widen_number(Bits bits) {
        if constexpr (sizeof(Bits) == sizeof(Wide))
            return bits_as<Wide>(bits);
        else if constexpr (std::is_same_v<Format, Fp16>)
            return Warp::widen_f16(bits);
        else
            return bits_as<Wide>(static_cast<WideBits>(bits) << shift);
    }

    static constexpr Bits narrow(Wide wide) {
        if constexpr (sizeof(Bits) == sizeof(Wide))
            return bits_as<Bits>(wide);
        else
            return wide == wide ? narrow_number(wide) : narrow_nan(bits_as<WideBits>(wide));
    }

    /// Returns a op b, calculated wide and rounded once.
    template <class Op>
    static constexpr Bits combined(Bits a, Bits b) {
        const Wide wide = Op::apply(widen_number(a), widen_number(b));
        return wide == wide ? narrow_number(wide) : Own::nan_of(a, b);
    }

    /// Computes what combined() does; if the result is NaN it sets `nan`, and the bits mean
    /// nothing.
    template <class Op>
    static constexpr Bits combined_numbers(Bits a, Bits b, bool& nan) {
        const Wide wide = Op::apply(widen_number(a), widen_number(b));
        nan = nan || !(wide == wide);
        return narrow_number(wide);
    }

    /// Returns the operand that Op picks; -0 is below +0, and a NaN gives the quiet one without a
    /// sign and payload (float_extremes.hpp).
    template <class Op>
    static constexpr Bits chosen(Bits a, Bits b) {
        if (Own::is_nan(a) || Own::is_nan(b)) return quiet_nan_bits<Format>();
        return Op::takes_first(ordered(a), ordered(b)) ? a : b;
    }

    /// Returns what error feedback should send; unsent() is what of it was not.
    static constexpr Wide wanted(Bits in, WideBits residual) {
        const Wide sum = widen_number(in) + bits_as<Wide>(residual);
        if (sum == sum) return sum;
        const WideBits wide_in = Own::is_nan(in) ? widen_nan(in) : WideBits{0};
        return bits_as<Wide>(WideFloat::nan_of(wide_in, residual));
    }
    static constexpr WideBits unsent(Wide wanted, Bits sent) {
        const Wide rest = wanted - widen_number(sent);
        return rest - rest == Wide{0} ? bits_as<WideBits>(rest) : WideBits{0};
    }
};

struct LaneSum {
    template <class Wide>
    static constexpr Wide apply(Wide a, Wide b) {
        return a + b;
    }
};

}  // namespace gradcoll
