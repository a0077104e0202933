// compress/exact/exact_lane_ops.hpp - the exact codec on one element of a warp's lane, and the
// table of its kernels. Wire format: compress/exact/README.md.
#pragma once

#include "compress/device_codec.hpp"
#include "reduce/lane_floats.hpp"
#include "warp/elementwise.hpp"

namespace gradcoll {

/// Both directions leave the bits as they are.
template <class Bits>
struct ExactLaneCopy {
    using In = Bits;
    using Base = Nothing;
    using Residual = Nothing;
    using Out = Bits;
    template <class Warp>
    static constexpr Bits apply(Bits in, Nothing, Nothing&) {
        return in;
    }
};

template <class Format>
struct ExactLaneFeedback {
    using In = typename Format::Bits;
    using Base = Nothing;
    using Residual = typename WideFormatOf<typename Format::Wide>::type::Bits;
    using Out = In;
    template <class Warp>
    static constexpr Out apply(In in, Nothing, Residual& residual) {
        using Float = LaneFloat<Warp, Format>;
        const auto wanted = Float::wanted(in, residual);
        const Out sent = Float::narrow(wanted);
        residual = Float::unsent(wanted, sent);
        return sent;
    }
};

template <class Format>
struct ExactLaneSum {
    using In = typename Format::Bits;
    using Base = In;
    using Residual = Nothing;
    using Out = In;
    template <class Warp>
    static constexpr Out apply(In in, Base base, Nothing&) {
        return LaneFloat<Warp, Format>::template combined<LaneSum>(base, in);
    }
};

/// Adds integers, of which those of either sign wrap around alike.
template <class Unsigned>
struct ExactLaneIntegerSum {
    using In = Unsigned;
    using Base = Unsigned;
    using Residual = Nothing;
    using Out = Unsigned;
    template <class Warp>
    static constexpr Out apply(In in, Base base, Nothing&) {
        return static_cast<Out>(base + in);
    }
};

template <class Launcher, template <class> class Op>
BatchKernel exact_float_kernel(ElementType type) {
    return for_float_type(type, [](auto format) {
        return Launcher::template kernel<ElementwiseJob<Op<decltype(format)>>>();
    });
}
template <class Launcher, template <class> class Op>
BatchKernel exact_bits_kernel(ElementType type) {
    const std::size_t bytes = element_bytes(type);
    if (bytes == 1) return Launcher::template kernel<ElementwiseJob<Op<std::uint8_t>>>();
    if (bytes == 2) return Launcher::template kernel<ElementwiseJob<Op<std::uint16_t>>>();
    if (bytes == 4) return Launcher::template kernel<ElementwiseJob<Op<std::uint32_t>>>();
    if (bytes == 8) return Launcher::template kernel<ElementwiseJob<Op<std::uint64_t>>>();
    return {};  // opaque: its size is not known
}

/// Returns the kernel. Integers have no residual: it is left alone.
template <class Launcher>
BatchKernel exact_kernel(ElementType type, CodecWork work) {
    const bool copies = work == CodecWork::encode || work == CodecWork::decode ||
                        (work == CodecWork::encode_with_residual && !is_floating(type));
    if (copies) return exact_bits_kernel<Launcher, ExactLaneCopy>(type);
    if (work == CodecWork::encode_with_residual)
        return exact_float_kernel<Launcher, ExactLaneFeedback>(type);
    return is_floating(type) ? exact_float_kernel<Launcher, ExactLaneSum>(type)
                             : exact_bits_kernel<Launcher, ExactLaneIntegerSum>(type);
}

}  // namespace gradcoll
