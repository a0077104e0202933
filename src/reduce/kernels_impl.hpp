// reduce/kernels_impl.hpp - every reduction kernel, written once on GNU vector types and compiled
// once per instruction set.
//
// Included by kernels_*.cpp only. Everything hangs on the parameter Target, which each of those
// files defines in an unnamed namespace: so no instance of these templates can be merged by the
// linker with one that was compiled for another CPU. For the same reason nothing here may call an
// inline function that is not forced inline.
//
// Target: vector_bytes; f32_from_f16(Vector<uint16_t>) and f16_from_f32 for vector_bytes / 4 values
// at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "reduce/half.hpp"
#include "reduce/kernels.hpp"

namespace gradcoll {

template <class T, std::size_t count>
struct VectorOf {
    using type [[gnu::vector_size(sizeof(T) * count)]] = T;
};
template <class T, std::size_t count>
using Vector = typename VectorOf<T, count>::type;

template <class V>
[[gnu::always_inline]] inline V load(const unsigned char* from) {
    V vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

template <class V>
[[gnu::always_inline]] inline void store(unsigned char* to, V vector) {
    std::memcpy(to, &vector, sizeof vector);
}

// How the elements of one block lie in memory and what they are computed as.

template <class Target, class T>
struct Native {
    static constexpr std::size_t element_bytes = sizeof(T);
    static constexpr std::size_t block_elems = Target::vector_bytes / sizeof(T);
    using Computed = Vector<T, block_elems>;
    [[gnu::always_inline]] static Computed read(const unsigned char* from) {
        return load<Computed>(from);
    }
    [[gnu::always_inline]] static void write(unsigned char* to, Computed value) {
        store(to, value);
    }
};

/// Two-byte floats: a block of them is computed as one full vector of fp32.
template <class Target>
struct Halves {
    static constexpr std::size_t element_bytes = 2;
    static constexpr std::size_t block_elems = Target::vector_bytes / sizeof(float);
    using Stored = Vector<std::uint16_t, block_elems>;
    using Computed = Vector<float, block_elems>;
    using Bits = Vector<std::uint32_t, block_elems>;
};

template <class Target>
struct Bf16 : Halves<Target> {
    using typename Halves<Target>::Stored, typename Halves<Target>::Computed,
        typename Halves<Target>::Bits;
    [[gnu::always_inline]] static Computed read(const unsigned char* from) {
        const Bits bits = __builtin_convertvector(load<Stored>(from), Bits) << 16;
        return __builtin_bit_cast(Computed, bits);
    }
    [[gnu::always_inline]] static void write(unsigned char* to, Computed value) {
        const Bits bits = bf16_bits_from_f32_bits(__builtin_bit_cast(Bits, value));
        store(to, __builtin_convertvector(bits, Stored));
    }
};

template <class Target>
struct F16 : Halves<Target> {
    using typename Halves<Target>::Stored, typename Halves<Target>::Computed;
    [[gnu::always_inline]] static Computed read(const unsigned char* from) {
        return Target::template f32_from_f16<Computed>(load<Stored>(from));
    }
    [[gnu::always_inline]] static void write(unsigned char* to, Computed value) {
        store(to, Target::template f16_from_f32<Stored>(value));
    }
};

// The operations, on whole vectors. Integer sums and products run on unsigned lanes, so that
// overflow wraps.

struct Sum {
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return a + b;
    }
};
struct Prod {
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return a * b;
    }
};
struct Min {
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return a < b ? a : b;
    }
};
struct Max {
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return a > b ? a : b;
    }
};
struct Band {
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return a & b;
    }
};
struct Bor {
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return a | b;
    }
};
struct Bxor {
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return a ^ b;
    }
};
/// Truth of a lane is all ones in a comparison, one in the result.
struct Land {
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return -__builtin_bit_cast(V, (a != 0) & (b != 0));
    }
};
struct Lor {
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return -__builtin_bit_cast(V, (a | b) != 0);
    }
};
struct Lxor {
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return -__builtin_bit_cast(V, (a != 0) ^ (b != 0));
    }
};

template <class Layout, class Op>
[[gnu::always_inline]] inline void combine_block(const unsigned char* a, const unsigned char* b,
                                                 unsigned char* out) {
    Layout::write(out, Op::apply(Layout::read(a), Layout::read(b)));
}

/// The last block is copied to whole vectors: one code path gives all elements the same arithmetic.
template <class Layout, class Op>
[[gnu::always_inline]] inline void combine_rest(const unsigned char* a, const unsigned char* b,
                                                unsigned char* out, std::size_t rest_bytes) {
    constexpr std::size_t block_bytes = Layout::block_elems * Layout::element_bytes;
    unsigned char padded_a[block_bytes] = {};
    unsigned char padded_b[block_bytes] = {};
    std::memcpy(padded_a, a, rest_bytes);
    std::memcpy(padded_b, b, rest_bytes);
    combine_block<Layout, Op>(padded_a, padded_b, padded_a);
    std::memcpy(out, padded_a, rest_bytes);
}

/// A block is read whole before it is written, so `out` may be `a` or `b`.
template <class Layout, class Op>
void combine(const void* /*context*/, const void* a, const void* b, void* out, std::size_t count) {
    constexpr std::size_t block_bytes = Layout::block_elems * Layout::element_bytes;
    const auto* pa = static_cast<const unsigned char*>(a);
    const auto* pb = static_cast<const unsigned char*>(b);
    auto* po = static_cast<unsigned char*>(out);
    const std::size_t size_bytes = count * Layout::element_bytes;
    const std::size_t whole_bytes = size_bytes - size_bytes % block_bytes;
    for (std::size_t at = 0; at < whole_bytes; at += block_bytes)
        combine_block<Layout, Op>(pa + at, pb + at, po + at);
    if (whole_bytes < size_bytes)
        combine_rest<Layout, Op>(pa + whole_bytes, pb + whole_bytes, po + whole_bytes,
                                 size_bytes - whole_bytes);
}

// The table.

template <class Target, class Op, ElementType type, class T>
constexpr void add_native(KernelTable& table, ReduceOp op) {
    table.function[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)] =
        combine<Native<Target, T>, Op>;
}

template <class Target, class Op>
constexpr void add_floats(KernelTable& table, ReduceOp op) {
    ReduceFunction* row = table.function[static_cast<std::size_t>(op)];
    row[static_cast<std::size_t>(ElementType::f16)] = combine<F16<Target>, Op>;
    row[static_cast<std::size_t>(ElementType::bf16)] = combine<Bf16<Target>, Op>;
    add_native<Target, Op, ElementType::f32, float>(table, op);
    add_native<Target, Op, ElementType::f64, double>(table, op);
}

template <class Target, class Op>
constexpr void add_unsigned(KernelTable& table, ReduceOp op) {
    add_native<Target, Op, ElementType::u8, std::uint8_t>(table, op);
    add_native<Target, Op, ElementType::u16, std::uint16_t>(table, op);
    add_native<Target, Op, ElementType::u32, std::uint32_t>(table, op);
    add_native<Target, Op, ElementType::u64, std::uint64_t>(table, op);
}

/// For ops that compare: the sign counts.
template <class Target, class Op>
constexpr void add_signed(KernelTable& table, ReduceOp op) {
    add_native<Target, Op, ElementType::i8, std::int8_t>(table, op);
    add_native<Target, Op, ElementType::i16, std::int16_t>(table, op);
    add_native<Target, Op, ElementType::i32, std::int32_t>(table, op);
    add_native<Target, Op, ElementType::i64, std::int64_t>(table, op);
}

/// For ops whose result has the same bits whether the lanes are signed or not.
template <class Target, class Op>
constexpr void add_signless(KernelTable& table, ReduceOp op) {
    add_unsigned<Target, Op>(table, op);
    add_native<Target, Op, ElementType::i8, std::uint8_t>(table, op);
    add_native<Target, Op, ElementType::i16, std::uint16_t>(table, op);
    add_native<Target, Op, ElementType::i32, std::uint32_t>(table, op);
    add_native<Target, Op, ElementType::i64, std::uint64_t>(table, op);
}

template <class Target>
constexpr KernelTable make_kernel_table() {
    KernelTable table{};
    add_floats<Target, Sum>(table, ReduceOp::sum);
    add_floats<Target, Prod>(table, ReduceOp::prod);
    add_floats<Target, Min>(table, ReduceOp::min);
    add_floats<Target, Max>(table, ReduceOp::max);
    add_signless<Target, Sum>(table, ReduceOp::sum);
    add_signless<Target, Prod>(table, ReduceOp::prod);
    add_unsigned<Target, Min>(table, ReduceOp::min);
    add_signed<Target, Min>(table, ReduceOp::min);
    add_unsigned<Target, Max>(table, ReduceOp::max);
    add_signed<Target, Max>(table, ReduceOp::max);
    add_signless<Target, Land>(table, ReduceOp::land);
    add_signless<Target, Lor>(table, ReduceOp::lor);
    add_signless<Target, Lxor>(table, ReduceOp::lxor);
    add_signless<Target, Band>(table, ReduceOp::band);
    add_signless<Target, Bor>(table, ReduceOp::bor);
    add_signless<Target, Bxor>(table, ReduceOp::bxor);
    return table;
}

}  // namespace gradcoll
