// reduce/lane_ops.hpp - every reduction of one pair of elements, for warp/elementwise.hpp, and the
// table of them. Values: src/reduce/README.md.
#pragma once

#include <cstdint>

#include "reduce/device_reduce.hpp"
#include "reduce/lane_floats.hpp"
#include "warp/elementwise.hpp"

namespace gradcoll {

struct LaneProd {
    template <class Value>
    static constexpr Value apply(Value a, Value b) {
        return a * b;
    }
};
struct LaneMin {
    template <class Value>
    static constexpr bool takes_first(Value a, Value b) {
        return a < b;
    }
};
struct LaneMax {
    template <class Value>
    static constexpr bool takes_first(Value a, Value b) {
        return a > b;
    }
};

/// PairOf says what the arrays of two operands and a result have: `in` is the first, `base` the
/// second.
template <class Bits>
struct PairOf {
    using In = Bits;
    using Base = Bits;
    using Residual = Nothing;
    using Out = Bits;
};

template <class Format, class Op>
struct FloatCombine : PairOf<typename Format::Bits> {
    using Bits = typename Format::Bits;
    template <class Warp>
    static constexpr Bits apply(Bits a, Bits b, Nothing&) {
        return LaneFloat<Warp, Format>::template combined<Op>(a, b);
    }
};
template <class Format, class Op>
struct FloatChoose : PairOf<typename Format::Bits> {
    using Bits = typename Format::Bits;
    template <class Warp>
    static constexpr Bits apply(Bits a, Bits b, Nothing&) {
        return LaneFloat<Warp, Format>::template chosen<Op>(a, b);
    }
};

/// Combines integers. Sums and products wrap: through 64 unsigned bits nothing is promoted to a
/// signed type.
template <class Unsigned, class Op>
struct IntegerCombine : PairOf<Unsigned> {
    template <class Warp>
    static constexpr Unsigned apply(Unsigned a, Unsigned b, Nothing&) {
        using Wide = std::conditional_t<sizeof(Unsigned) == 8, std::uint64_t, std::uint32_t>;
        return static_cast<Unsigned>(Op::apply(static_cast<Wide>(a), static_cast<Wide>(b)));
    }
};
template <class Integer, class Op>
struct IntegerChoose : PairOf<std::make_unsigned_t<Integer>> {
    using Bits = std::make_unsigned_t<Integer>;
    template <class Warp>
    static constexpr Bits apply(Bits a, Bits b, Nothing&) {
        return Op::takes_first(static_cast<Integer>(a), static_cast<Integer>(b)) ? a : b;
    }
};

struct LaneLand {
    template <class Value>
    static constexpr Value apply(Value a, Value b) {
        return a != 0 && b != 0 ? 1 : 0;
    }
};
struct LaneLor {
    template <class Value>
    static constexpr Value apply(Value a, Value b) {
        return (a | b) != 0 ? 1 : 0;
    }
};
struct LaneLxor {
    template <class Value>
    static constexpr Value apply(Value a, Value b) {
        return (a != 0) != (b != 0) ? 1 : 0;
    }
};
struct LaneBand {
    template <class Value>
    static constexpr Value apply(Value a, Value b) {
        return a & b;
    }
};
struct LaneBor {
    template <class Value>
    static constexpr Value apply(Value a, Value b) {
        return a | b;
    }
};
struct LaneBxor {
    template <class Value>
    static constexpr Value apply(Value a, Value b) {
        return a ^ b;
    }
};

// The tables give the kernel for an op and a type, made by Launcher::kernel<Job>(). One without
// launch is not defined.

template <class Launcher, class Apply>
BatchKernel kernel_with() {
    return Launcher::template kernel<ElementwiseJob<Apply>>();
}

template <class Launcher, template <class, class> class Apply, class Op>
BatchKernel float_kernel(ElementType type) {
    return for_float_type(
        type, [](auto format) { return kernel_with<Launcher, Apply<decltype(format), Op>>(); });
}

/// Returns the kernel of an op whose result has the same bits whether the elements are signed or
/// not.
template <class Launcher, class Op>
BatchKernel signless_kernel(ElementType type) {
    if (is_floating(type)) return {};
    const std::size_t bytes = element_bytes(type);
    if (bytes == 1) return kernel_with<Launcher, IntegerCombine<std::uint8_t, Op>>();
    if (bytes == 2) return kernel_with<Launcher, IntegerCombine<std::uint16_t, Op>>();
    if (bytes == 4) return kernel_with<Launcher, IntegerCombine<std::uint32_t, Op>>();
    if (bytes == 8) return kernel_with<Launcher, IntegerCombine<std::uint64_t, Op>>();
    return {};
}

template <class Launcher, class Op>
BatchKernel comparing_kernel(ElementType type) {
    if (type == ElementType::i8) return kernel_with<Launcher, IntegerChoose<std::int8_t, Op>>();
    if (type == ElementType::u8) return kernel_with<Launcher, IntegerChoose<std::uint8_t, Op>>();
    if (type == ElementType::i16) return kernel_with<Launcher, IntegerChoose<std::int16_t, Op>>();
    if (type == ElementType::u16) return kernel_with<Launcher, IntegerChoose<std::uint16_t, Op>>();
    if (type == ElementType::i32) return kernel_with<Launcher, IntegerChoose<std::int32_t, Op>>();
    if (type == ElementType::u32) return kernel_with<Launcher, IntegerChoose<std::uint32_t, Op>>();
    if (type == ElementType::i64) return kernel_with<Launcher, IntegerChoose<std::int64_t, Op>>();
    if (type == ElementType::u64) return kernel_with<Launcher, IntegerChoose<std::uint64_t, Op>>();
    return {};
}

/// Returns the kernel of sum, prod, min or max.
template <class Launcher>
BatchKernel arithmetic_float_kernel(ReduceOp op, ElementType type) {
    if (op == ReduceOp::sum) return float_kernel<Launcher, FloatCombine, LaneSum>(type);
    if (op == ReduceOp::prod) return float_kernel<Launcher, FloatCombine, LaneProd>(type);
    if (op == ReduceOp::min) return float_kernel<Launcher, FloatChoose, LaneMin>(type);
    if (op == ReduceOp::max) return float_kernel<Launcher, FloatChoose, LaneMax>(type);
    return {};
}
template <class Launcher>
BatchKernel arithmetic_integer_kernel(ReduceOp op, ElementType type) {
    if (op == ReduceOp::sum) return signless_kernel<Launcher, LaneSum>(type);
    if (op == ReduceOp::prod) return signless_kernel<Launcher, LaneProd>(type);
    if (op == ReduceOp::min) return comparing_kernel<Launcher, LaneMin>(type);
    if (op == ReduceOp::max) return comparing_kernel<Launcher, LaneMax>(type);
    return {};
}
template <class Launcher>
BatchKernel logical_kernel(ReduceOp op, ElementType type) {
    if (op == ReduceOp::land) return signless_kernel<Launcher, LaneLand>(type);
    if (op == ReduceOp::lor) return signless_kernel<Launcher, LaneLor>(type);
    if (op == ReduceOp::lxor) return signless_kernel<Launcher, LaneLxor>(type);
    if (op == ReduceOp::band) return signless_kernel<Launcher, LaneBand>(type);
    if (op == ReduceOp::bor) return signless_kernel<Launcher, LaneBor>(type);
    if (op == ReduceOp::bxor) return signless_kernel<Launcher, LaneBxor>(type);
    return {};
}

}  // namespace gradcoll
