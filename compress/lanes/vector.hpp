// compress/lanes/vector.hpp - the lanes vocabulary (lanes/scalar.hpp) on vector registers: written
// once on GNU vector types and compiled once per instruction set.
//
// `Isa` (lanes/avx2.hpp, lanes/avx512.hpp) says what the compiler does not find by itself:
//   vector_bytes                        the size of a register
//   streams, stream(to, reg), fence()   stores past the caches, if they pay
//   lower, upper, joined                the halves of a register of 16-bit words
//   fp16_to_fp32, fp32_to_fp16          half a register of fp16, a register of fp32
//   spread_low, spread_high             half the words become the upper halves of lanes of 32 bits
//   rounded(bits)                       to nearest even into the upper halves, but for NaN
//   finite_or_zero(floats)
//   smaller, larger(a, b)               of each lane; no NaN comes in
//   smallest, largest(vector)           of all lanes; of Whole, 16-bit integers, too
//   any(bits)                           whether a lane is not 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/lanes/scalar.hpp"
#include "reduce/vector.hpp"

namespace gradcoll {
namespace {

/// PlainArithmetic has two of these for sets without instructions of their own for them.
struct PlainArithmetic {
    /// Half of the last place is added, or just less if the last place is even.
    template <class Lanes32>
    static Lanes32 rounded(Lanes32 bits) {
        return bits + ((bits >> 16 & 1) + 0x7fff);
    }
    template <class Wide>
    static Wide finite_or_zero(Wide wide) {  // x - x is 0 for finite x only
        const Wide self = wide - wide;
        return self == self ? wide : Wide{};
    }
};

template <class Isa, class Bits>
struct VectorRegister {
    using Reg = Vector<Bits, Isa::vector_bytes / sizeof(Bits)>;
    static constexpr std::size_t elems = Isa::vector_bytes / sizeof(Bits);
    static constexpr bool streams = Isa::streams;
    static Reg load(const void* from) { return load_vector<Reg>(from); }
    static void store(void* to, Reg reg) { store_vector(to, reg); }
    static void stream(void* to, Reg reg) { Isa::stream(to, reg); }
    static void fence() { Isa::fence(); }
};

template <class Isa, class Float>
struct VectorFloat {
    using Wide = Vector<Float, Isa::vector_bytes / sizeof(Float)>;
    static Wide load_wide(const void* from) { return load_vector<Wide>(from); }
    static void store_wide(void* to, Wide wide) { store_vector(to, wide); }
    static Wide add(Wide a, Wide b) { return a + b; }
    static Wide subtract(Wide a, Wide b) { return a - b; }
    static Wide finite_or_zero(Wide wide) { return Isa::finite_or_zero(wide); }
};

/// VectorPair is a register of a 16-bit format, calculated as two vectors of fp32.
template <class Isa, class Convert>
struct VectorPair : VectorRegister<Isa, std::uint16_t>, Convert {
    using Single = VectorFloat<Isa, float>;
    using Reg = typename VectorRegister<Isa, std::uint16_t>::Reg;
    struct Wide {
        typename Single::Wide low, high;
    };
    static constexpr std::size_t half_elems = Isa::vector_bytes / sizeof(float);

    static Wide widen(Reg reg) { return {Convert::widen_low(reg), Convert::widen_high(reg)}; }
    static Reg narrow(Wide wide) { return Convert::narrow_both(wide.low, wide.high); }
    static Reg narrow_numbers(Wide wide) { return Convert::narrow_numbers(wide.low, wide.high); }
    static Wide load_wide(const void* from) {
        return {Single::load_wide(from),
                Single::load_wide(static_cast<const float*>(from) + half_elems)};
    }
    static void store_wide(void* to, Wide wide) {
        Single::store_wide(to, wide.low);
        Single::store_wide(static_cast<float*>(to) + half_elems, wide.high);
    }
    static Wide add(Wide a, Wide b) { return {a.low + b.low, a.high + b.high}; }
    static Wide subtract(Wide a, Wide b) { return {a.low - b.low, a.high - b.high}; }
    static Wide finite_or_zero(Wide wide) {
        return {Isa::finite_or_zero(wide.low), Isa::finite_or_zero(wide.high)};
    }
};

template <class Isa>
struct ConvertFp16 {
    using Reg = Vector<std::uint16_t, Isa::vector_bytes / 2>;
    using Floats = Vector<float, Isa::vector_bytes / 4>;

    static Floats widen_low(Reg reg) { return Isa::fp16_to_fp32(Isa::lower(reg)); }
    static Floats widen_high(Reg reg) { return Isa::fp16_to_fp32(Isa::upper(reg)); }
    static Reg narrow_both(Floats low, Floats high) {
        return Isa::joined(Isa::fp32_to_fp16(low), Isa::fp32_to_fp16(high));
    }
    static Reg narrow_numbers(Floats low, Floats high) { return narrow_both(low, high); }
};

/// Converts bf16, which is the upper half of an fp32, by integer arithmetic: the instruction of
/// AVX512_BF16 would flush subnormals to zero.
template <class Isa>
struct ConvertBf16 {
    using Reg = Vector<std::uint16_t, Isa::vector_bytes / 2>;
    using Lanes32 = Vector<std::uint32_t, Isa::vector_bytes / 4>;
    using Floats = Vector<float, Isa::vector_bytes / 4>;

    static Floats widen_low(Reg reg) { return bit_copy<Floats>(Isa::spread_low(reg)); }
    static Floats widen_high(Reg reg) { return bit_copy<Floats>(Isa::spread_high(reg)); }
    static Reg narrow_both(Floats low, Floats high) {
        return shuffled<OddWords>(bit_copy<Reg>(rounded(low)), bit_copy<Reg>(rounded(high)));
    }
    /// No NaN comes in.
    static Reg narrow_numbers(Floats low, Floats high) {
        return shuffled<OddWords>(bit_copy<Reg>(Isa::rounded(bit_copy<Lanes32>(low))),
                                  bit_copy<Reg>(Isa::rounded(bit_copy<Lanes32>(high))));
    }
    /// Adds even and odd elements apart, each as the upper half of an fp32: nothing moves between
    /// lanes. A sum that is NaN is quiet already, and its lower half is 0, since it is one of the
    /// addends or the CPU's own: nothing is carried.
    static Reg sum(Reg a, Reg b) {
        const auto x = bit_copy<Lanes32>(a), y = bit_copy<Lanes32>(b);
        const Lanes32 x_even = x << 16, y_even = y << 16;
        const Lanes32 x_odd = x & 0xffff0000, y_odd = y & 0xffff0000;
        const Lanes32 even = rounded_sum(x_even, y_even), odd = rounded_sum(x_odd, y_odd);
        return shuffled<EvenAndOddWords>(bit_copy<Reg>(even >> 16), bit_copy<Reg>(odd));
    }

  private:
    /// OddWords takes the upper halves of the lanes of two registers, one register behind the
    /// other.
    struct OddWords {
        static constexpr int from(int i, int) { return 2 * i + 1; }
    };
    struct EvenAndOddWords {
        static constexpr int from(int i, int words) { return i % 2 == 0 ? i : words + i; }
    };
    /// NaN stays NaN and becomes quiet.
    static Lanes32 rounded(Floats wide) {
        const auto bits = bit_copy<Lanes32>(wide);
        return wide == wide ? Isa::rounded(bits) : bits | 0x400000;
    }
    static Lanes32 rounded_sum(Lanes32 a, Lanes32 b) {
        return Isa::rounded(bit_copy<Lanes32>(bit_copy<Floats>(a) + bit_copy<Floats>(b)));
    }
};

/// fp32 and fp64 are calculated in as they are.
template <class Isa, class T>
struct VectorLanes : VectorRegister<Isa, typename T::Bits>, VectorFloat<Isa, typename T::Wide> {
    using Format = T;
    using Reg = typename VectorRegister<Isa, typename T::Bits>::Reg;
    using Wide = typename VectorFloat<Isa, typename T::Wide>::Wide;
    static Wide widen(Reg reg) { return bit_copy<Wide>(reg); }
    static Reg narrow(Wide wide) { return bit_copy<Reg>(wide); }
    static Reg narrow_numbers(Wide wide) { return bit_copy<Reg>(wide); }
};
template <class Isa>
struct VectorLanes<Isa, Fp16> : VectorPair<Isa, ConvertFp16<Isa>> {
    using Format = Fp16;
    using Reg = typename ConvertFp16<Isa>::Reg;
};
template <class Isa>
struct VectorLanes<Isa, Bf16> : VectorPair<Isa, ConvertBf16<Isa>> {
    using Format = Bf16;
    using Reg = typename ConvertBf16<Isa>::Reg;
};

}  // namespace
}  // namespace gradcoll
