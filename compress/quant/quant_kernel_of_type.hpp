// compress/quant/quant_kernel_of_type.hpp - from an element type to a kernel for the GPU.
#pragma once

#include "compress/quant/quant_layout.hpp"
#include "reduce/float_types.hpp"
#include "warp/batch.hpp"

namespace gradcoll::quant {

/// Returns make(Format{}) for types that are quantized to that width; no launch for others.
template <class W, class Make>
BatchKernel kernel_for_type(ElementType type, Make make) {
    if (!quantizes(W::bits, type)) return {};
    if (type == ElementType::f32) return make(Fp32{});
    if (type == ElementType::f64) return make(Fp64{});
    if constexpr (quantizes(W::bits, ElementType::f16)) {
        if (type == ElementType::f16) return make(Fp16{});
        return make(Bf16{});
    }
    return {};
}

}  // namespace gradcoll::quant
