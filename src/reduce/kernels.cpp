// reduce/kernels.cpp - every reduction kernel, written once on GNU vector types. The build compiles
// this once for each instruction set (gradcoll_kernels).
//
// Everything hangs on the parameter Target, a type of an unnamed namespace: so no instance of these
// templates can be merged by the linker with one that was compiled for another CPU. For the same
// reason nothing here may call an inline function that is not forced inline.
//
// Target (vector_scalar.hpp, vector_avx2.hpp, vector_avx512.hpp): vector_bytes; stream(to, vector),
// a store past the caches to an aligned address, where there is one, and fence(), after which
// others see what was streamed; converts_fp16, and if it does, fp16_to_fp32 and fp32_to_fp16;
// extreme() and or_nan() of vectors of fp32 and fp64.
#include "reduce/kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "reduce/float_extremes.hpp"
#include "reduce/float_types.hpp"
#include "reduce/half.hpp"
#include "reduce/vector.hpp"

namespace gradcoll {

// The layouts say how the elements of one block lie in memory and what they are computed as: a
// block is a Value, and apply<Op>(a, b) combines two.

template <class Target, class T>
struct Native {
    static constexpr std::size_t element_bytes = sizeof(T);
    static constexpr std::size_t block_bytes = Target::vector_bytes;
    using Value = Vector<T, block_bytes / sizeof(T)>;

    template <class Op>
    [[gnu::always_inline]] static Value apply(Value a, Value b) {
        return Op::apply(a, b);
    }
};

struct Bf16Format {
    template <class F32, class U32>
    [[gnu::always_inline]] static U32 widened(U32 half) {
        return f32_bits_from_bf16_bits(half);
    }
    template <class F32, class U32>
    [[gnu::always_inline]] static U32 narrowed(U32 bits) {
        return bf16_bits_from_f32_bits<F32>(bits);
    }
};

struct F16Format {
    template <class F32, class U32>
    [[gnu::always_inline]] static U32 widened(U32 half) {
        return f32_bits_from_f16_bits<F32>(half);
    }
    template <class F32, class U32>
    [[gnu::always_inline]] static U32 narrowed(U32 bits) {
        return f16_bits_from_f32_bits<F32>(bits);
    }
};

/// PairedHalves are two-byte floats, loaded as 32-bit lanes of two neighbours each: all lower ones
/// are combined in fp32, then all upper ones. Shifts within a lane take the place of moves between
/// lanes.
template <class Target, class Format>
struct PairedHalves {
    static constexpr std::size_t element_bytes = 2;
    static constexpr std::size_t block_bytes = Target::vector_bytes;
    using Pairs = Vector<std::uint32_t, block_bytes / 4>;
    using Floats = Vector<float, block_bytes / 4>;
    using Value = Pairs;

    template <class Op>
    [[gnu::always_inline]] static Pairs combine_lower(Pairs a, Pairs b) {
        const auto x = __builtin_bit_cast(Floats, Format::template widened<Floats>(a & 0xffffU));
        const auto y = __builtin_bit_cast(Floats, Format::template widened<Floats>(b & 0xffffU));
        return Format::template narrowed<Floats>(__builtin_bit_cast(Pairs, Op::apply(x, y)));
    }
    template <class Op>
    [[gnu::always_inline]] static Value apply(Value a, Value b) {
        return combine_lower<Op>(a, b) | combine_lower<Op>(a >> 16, b >> 16) << 16;
    }
};

/// ConvertedF16 is fp16 where Target has instructions that convert a half vector of fp16 to a
/// vector of fp32 and back.
template <class Target>
struct ConvertedF16 {
    static constexpr std::size_t element_bytes = 2;
    static constexpr std::size_t block_bytes = Target::vector_bytes / 2;
    using Value = Vector<std::uint16_t, block_bytes / 2>;

    template <class Op>
    [[gnu::always_inline]] static Value apply(Value a, Value b) {
        const auto x = Target::fp16_to_fp32(a);
        const auto y = Target::fp16_to_fp32(b);
        return Target::fp32_to_fp16(Op::apply(x, y));
    }
};

template <class Target>
using F16 = std::conditional_t<Target::converts_fp16, ConvertedF16<Target>,
                               PairedHalves<Target, F16Format>>;

// The operations work on whole vectors. Integer sums and products run on unsigned lanes, so that
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
/// Min and Max are for integers so; FloatExtremes and HalfExtremes ask only which it is.
struct Min {
    static constexpr bool takes_larger = false;
    template <class V>
    [[gnu::always_inline]] static V apply(V a, V b) {
        return a < b ? a : b;
    }
};
struct Max {
    static constexpr bool takes_larger = true;
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
/// A lane that is true is all ones in a comparison, and one in the result.
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

/// Returns the elements behind the last whole block, copied to one: a single code path gives all
/// elements the same arithmetic.
template <class Layout>
[[gnu::always_inline]] inline typename Layout::Value load_rest(const unsigned char* from,
                                                               std::size_t rest_bytes) {
    unsigned char padded[Layout::block_bytes] = {};
    std::memcpy(padded, from, rest_bytes);
    return load_vector<typename Layout::Value>(padded);
}

template <class Layout, class Op>
void combine(const void* /*context*/, const void* a, const void* b, void* out, std::size_t count) {
    using Value = typename Layout::Value;
    const auto* pa = static_cast<const unsigned char*>(a);
    const auto* pb = static_cast<const unsigned char*>(b);
    auto* po = static_cast<unsigned char*>(out);
    const std::size_t size_bytes = count * Layout::element_bytes;
    const std::size_t whole_bytes = size_bytes - size_bytes % Layout::block_bytes;
    for (std::size_t at = 0; at < whole_bytes; at += Layout::block_bytes)
        store_vector(po + at, Layout::template apply<Op>(load_vector<Value>(pa + at),
                                                         load_vector<Value>(pb + at)));
    const std::size_t rest = size_bytes - whole_bytes;
    if (rest == 0) return;
    const Value last = Layout::template apply<Op>(load_rest<Layout>(pa + whole_bytes, rest),
                                                  load_rest<Layout>(pb + whole_bytes, rest));
    std::memcpy(po + whole_bytes, &last, rest);
}

// Many sources are combined at once: the same bytes of all of them, then the next. Intermediates
// never leave the registers, and all sources are read before `out` is written, which may be one of
// them.

template <class Layout, class Op, std::size_t blocks, class Store>
[[gnu::always_inline]] inline void combine_blocks_of_many(const void* const* sources,
                                                          std::size_t source_count, std::size_t at,
                                                          unsigned char* out, Store store_block) {
    using Value = typename Layout::Value;
    Value combined[blocks];
    const auto* first = static_cast<const unsigned char*>(sources[0]) + at;
    for (std::size_t b = 0; b < blocks; ++b)
        combined[b] = load_vector<Value>(first + b * Layout::block_bytes);
    for (std::size_t s = 1; s < source_count; ++s) {
        const auto* next = static_cast<const unsigned char*>(sources[s]) + at;
        for (std::size_t b = 0; b < blocks; ++b)
            combined[b] = Layout::template apply<Op>(
                combined[b], load_vector<Value>(next + b * Layout::block_bytes));
    }
    for (std::size_t b = 0; b < blocks; ++b)
        store_block(out + at + b * Layout::block_bytes, combined[b]);
}

template <class Layout, class Op>
[[gnu::always_inline]] inline void combine_rest_of_many(const void* const* sources,
                                                        std::size_t source_count, std::size_t at,
                                                        unsigned char* out, std::size_t rest) {
    auto combined = load_rest<Layout>(static_cast<const unsigned char*>(sources[0]) + at, rest);
    for (std::size_t s = 1; s < source_count; ++s)
        combined = Layout::template apply<Op>(
            combined, load_rest<Layout>(static_cast<const unsigned char*>(sources[s]) + at, rest));
    std::memcpy(out + at, &combined, rest);
}

/// Combines the bytes from `at` to `end` of all sources; four blocks at a time, so that the loop
/// over the sources is worth its branches.
template <class Layout, class Op, class Store>
[[gnu::always_inline]] inline void walk_many(const void* const* sources, std::size_t source_count,
                                             std::size_t at, std::size_t end, unsigned char* out,
                                             Store store_block) {
    constexpr std::size_t block = Layout::block_bytes;
    for (; at + 4 * block <= end; at += 4 * block)
        combine_blocks_of_many<Layout, Op, 4>(sources, source_count, at, out, store_block);
    for (; at + block <= end; at += block)
        combine_blocks_of_many<Layout, Op, 1>(sources, source_count, at, out, store_block);
    if (at < end) combine_rest_of_many<Layout, Op>(sources, source_count, at, out, end - at);
}

template <class Target>
struct PlainStore {
    template <class V>
    [[gnu::always_inline]] void operator()(unsigned char* to, V vector) const {
        store_vector(to, vector);
    }
};
template <class Target>
struct StreamingStore {
    template <class V>
    [[gnu::always_inline]] void operator()(unsigned char* to, V vector) const {
        Target::stream(to, vector);
    }
};

template <class Target, class Layout, class Op>
void combine_many(const void*, const void* const* sources, std::size_t source_count, void* out,
                  std::size_t count, bool streaming) {
    constexpr std::size_t line = 64;
    auto* to = static_cast<unsigned char*>(out);
    const std::size_t size_bytes = count * Layout::element_bytes;
    const std::size_t to_line = (line - reinterpret_cast<std::uintptr_t>(out) % line) % line;
    const std::size_t head = streaming && to_line < size_bytes ? to_line : size_bytes;
    walk_many<Layout, Op>(sources, source_count, 0, head, to, PlainStore<Target>{});
    if (head == size_bytes) return;
    walk_many<Layout, Op>(sources, source_count, head, size_bytes, to, StreamingStore<Target>{});
    Target::fence();
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
    row[static_cast<std::size_t>(ElementType::bf16)] =
        combine<PairedHalves<Target, Bf16Format>, Op>;
    add_native<Target, Op, ElementType::f32, float>(table, op);
    add_native<Target, Op, ElementType::f64, double>(table, op);
}

template <class Target, class Op>
constexpr void add_float_extremes(KernelTable& table, ReduceOp op) {
    ReduceFunction* row = table.function[static_cast<std::size_t>(op)];
    row[static_cast<std::size_t>(ElementType::f16)] = combine<HalfExtremes<Target, Fp16>, Op>;
    row[static_cast<std::size_t>(ElementType::bf16)] = combine<HalfExtremes<Target, Bf16>, Op>;
    row[static_cast<std::size_t>(ElementType::f32)] = combine<FloatExtremes<Target, Fp32>, Op>;
    row[static_cast<std::size_t>(ElementType::f64)] = combine<FloatExtremes<Target, Fp64>, Op>;
}

template <class Target, class Op>
constexpr void add_unsigned(KernelTable& table, ReduceOp op) {
    add_native<Target, Op, ElementType::u8, std::uint8_t>(table, op);
    add_native<Target, Op, ElementType::u16, std::uint16_t>(table, op);
    add_native<Target, Op, ElementType::u32, std::uint32_t>(table, op);
    add_native<Target, Op, ElementType::u64, std::uint64_t>(table, op);
}

/// Adds the kernels of ops that compare: the sign counts.
template <class Target, class Op>
constexpr void add_signed(KernelTable& table, ReduceOp op) {
    add_native<Target, Op, ElementType::i8, std::int8_t>(table, op);
    add_native<Target, Op, ElementType::i16, std::int16_t>(table, op);
    add_native<Target, Op, ElementType::i32, std::int32_t>(table, op);
    add_native<Target, Op, ElementType::i64, std::int64_t>(table, op);
}

/// Adds the kernels of ops whose result has the same bits whether the lanes are signed or not.
template <class Target, class Op>
constexpr void add_signless(KernelTable& table, ReduceOp op) {
    add_unsigned<Target, Op>(table, op);
    add_native<Target, Op, ElementType::i8, std::uint8_t>(table, op);
    add_native<Target, Op, ElementType::i16, std::uint16_t>(table, op);
    add_native<Target, Op, ElementType::i32, std::uint32_t>(table, op);
    add_native<Target, Op, ElementType::i64, std::uint64_t>(table, op);
}

template <class Target, ElementType type, class Layout>
constexpr void add_sum_of_many(KernelTable& table) {
    table.sum_of_many[static_cast<std::size_t>(type)] = combine_many<Target, Layout, Sum>;
}

template <class Target>
constexpr void add_sums_of_many(KernelTable& table) {
    add_sum_of_many<Target, ElementType::f16, F16<Target>>(table);
    add_sum_of_many<Target, ElementType::bf16, PairedHalves<Target, Bf16Format>>(table);
    add_sum_of_many<Target, ElementType::f32, Native<Target, float>>(table);
    add_sum_of_many<Target, ElementType::f64, Native<Target, double>>(table);
    add_sum_of_many<Target, ElementType::i32, Native<Target, std::uint32_t>>(table);
    add_sum_of_many<Target, ElementType::u32, Native<Target, std::uint32_t>>(table);
    add_sum_of_many<Target, ElementType::i64, Native<Target, std::uint64_t>>(table);
    add_sum_of_many<Target, ElementType::u64, Native<Target, std::uint64_t>>(table);
}

/// ExtentLoop turns magnitudes of negative elements round, so that integers compare as the values
/// do, whatever NaN there is. Vectors of 64 bytes are what the compiler makes of them for the set.
/// `infinity` is given by its bits.
template <class Target, class Int, Int infinity>
class ExtentLoop {
    static constexpr Int magnitude = static_cast<Int>(~(Int{1} << (8 * sizeof(Int) - 1)));
    static constexpr Int least = static_cast<Int>(~magnitude);
    using Lanes [[gnu::vector_size(64)]] = Int;
    static constexpr std::size_t lanes = sizeof(Lanes) / sizeof(Int);

  public:
    static ExtentKeys run(const void* data, std::size_t count) {
        const auto* bytes = static_cast<const unsigned char*>(data);
        Lanes lowest = Lanes{} + magnitude, highest = Lanes{} + least;
        std::size_t left = count;
        for (; left >= lanes; left -= lanes, bytes += sizeof(Lanes)) {
            Lanes bits;
            __builtin_memcpy(&bits, bytes, sizeof bits);
            take(bits, lowest, highest);
        }
        if (left > 0) {
            Lanes bits = Lanes{} + infinity;  // which does not count
            __builtin_memcpy(&bits, bytes, left * sizeof(Int));
            take(bits, lowest, highest);
        }
        ExtentKeys keys{magnitude, least};
        for (std::size_t i = 0; i < lanes; ++i) {
            keys.lowest = lowest[i] < keys.lowest ? lowest[i] : keys.lowest;
            keys.highest = highest[i] > keys.highest ? highest[i] : keys.highest;
        }
        return keys;
    }

  private:
    [[gnu::always_inline]] static void take(const Lanes& bits, Lanes& lowest, Lanes& highest) {
        const Lanes finite = (bits & magnitude) < infinity;  // all bits, or none
        const Lanes key = bits ^ ((bits < 0) & magnitude);
        const Lanes low = (key & finite) | (magnitude & ~finite);
        const Lanes high = (key & finite) | (least & ~finite);
        lowest = low < lowest ? low : lowest;
        highest = high > highest ? high : highest;
    }
};

template <class Target>
constexpr void add_extents(KernelTable& table) {
    const auto at = [&](ElementType type) -> ExtentFunction& {
        return table.extent[static_cast<std::size_t>(type)];
    };
    at(ElementType::f16) = ExtentLoop<Target, std::int16_t, 0x7c00>::run;
    at(ElementType::bf16) = ExtentLoop<Target, std::int16_t, 0x7f80>::run;
    at(ElementType::f32) = ExtentLoop<Target, std::int32_t, 0x7f800000>::run;
    at(ElementType::f64) = ExtentLoop<Target, std::int64_t, 0x7ff0000000000000>::run;
}

template <class Target>
constexpr KernelTable make_kernel_table() {
    KernelTable table{};
    add_floats<Target, Sum>(table, ReduceOp::sum);
    add_floats<Target, Prod>(table, ReduceOp::prod);
    add_float_extremes<Target, Min>(table, ReduceOp::min);
    add_float_extremes<Target, Max>(table, ReduceOp::max);
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
    add_sums_of_many<Target>(table);
    add_extents<Target>(table);
    return table;
}

const KernelTable& GRADCOLL_OF_SET(kernel_table)() {
    static constexpr KernelTable table = make_kernel_table<vectors::GRADCOLL_ISA>();
    return table;
}

}  // namespace gradcoll
