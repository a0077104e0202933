// compress/cast/bf16_lane_ops.hpp - the bf16 codec on one element of a warp's lane, and the table
// of its kernels. Wire format: compress/cast/README.md.
#pragma once

#include "compress/device_codec.hpp"
#include "reduce/lane_floats.hpp"
#include "warp/elementwise.hpp"

namespace gradcoll {

struct Bf16LaneEncode {
    using In = Fp32::Bits;
    using Base = Nothing;
    using Residual = Nothing;
    using Out = Bf16::Bits;
    template <class Warp>
    static constexpr Out apply(In in, Nothing, Nothing&) {
        return LaneFloat<Warp, Bf16>::narrow(bits_as<float>(in));
    }
};

struct Bf16LaneFeedback {
    using In = Fp32::Bits;
    using Base = Nothing;
    using Residual = Fp32::Bits;
    using Out = Bf16::Bits;
    template <class Warp>
    static constexpr Out apply(In in, Nothing, Residual& residual) {
        using Sent = LaneFloat<Warp, Bf16>;
        const float wanted = LaneFloat<Warp, Fp32>::wanted(in, residual);
        const Out sent = Sent::narrow(wanted);
        residual = Sent::unsent(wanted, sent);
        return sent;
    }
};

struct Bf16LaneDecode {
    using In = Bf16::Bits;
    using Base = Nothing;
    using Residual = Nothing;
    using Out = Fp32::Bits;
    template <class Warp>
    static constexpr Out apply(In in, Nothing, Nothing&) {
        return static_cast<Out>(in) << 16;
    }
};

struct Bf16LaneSum {
    using In = Bf16::Bits;
    using Base = Fp32::Bits;
    using Residual = Nothing;
    using Out = Fp32::Bits;
    template <class Warp>
    static constexpr Out apply(In in, Base base, Nothing&) {
        return LaneFloat<Warp, Fp32>::template combined<LaneSum>(base, static_cast<Base>(in) << 16);
    }
};

template <class Launcher>
BatchKernel bf16_kernel(ElementType type, CodecWork work) {
    if (type != ElementType::f32) return {};
    switch (work) {
        case CodecWork::encode:
            return Launcher::template kernel<ElementwiseJob<Bf16LaneEncode>>();
        case CodecWork::encode_with_residual:
            return Launcher::template kernel<ElementwiseJob<Bf16LaneFeedback>>();
        case CodecWork::decode:
            return Launcher::template kernel<ElementwiseJob<Bf16LaneDecode>>();
        case CodecWork::decode_sum:
            return Launcher::template kernel<ElementwiseJob<Bf16LaneSum>>();
    }
    return {};
}

}  // namespace gradcoll
