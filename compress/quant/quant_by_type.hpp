// compress/quant/quant_by_type.hpp - from bits of a code and an element type to kernels.
#pragma once

#include "compress/kernels.hpp"
#include "compress/quant/quant_layout.hpp"
#include "reduce/float_types.hpp"

namespace gradcoll::quant {
namespace {

/// `Made` has make<W, Format>(), which gives the kernels for a Width and a float format.
template <class Made, class W>
Kernels kernels_of_width(ElementType type) {
    if (!quantizes(W::bits, type)) return {};
    if (type == ElementType::f32) return Made::template make<W, Fp32>();
    if (type == ElementType::f64) return Made::template make<W, Fp64>();
    if constexpr (quantizes(W::bits, ElementType::f16)) {
        if (type == ElementType::f16) return Made::template make<W, Fp16>();
        return Made::template make<W, Bf16>();
    }
    return {};
}

template <class Made>
Kernels kernels_by_type(int bits, ElementType type) {
    if (bits == 4) return kernels_of_width<Made, Width<4>>(type);
    if (bits == 8) return kernels_of_width<Made, Width<8>>(type);
    if (bits == 16) return kernels_of_width<Made, Width<16>>(type);
    return {};
}

}  // namespace
}  // namespace gradcoll::quant
