// compress/quant/quant_by_type.hpp - from an element type, and bits of a code, to kernels.
#pragma once

#include "compress/kernels.hpp"
#include "compress/quant/quant_layout.hpp"
#include "reduce/float_types.hpp"

namespace gradcoll::quant {

/// Returns make(Format{}), the kernels of the CPU or of a GPU for a float format, for types that
/// are quantized to that width; no kernel for others.
template <class W, class Make>
auto kernel_for_type(ElementType type, Make make) -> decltype(make(Fp32{})) {
    if (!quantizes(W::bits, type)) return {};
    if (type == ElementType::f32) return make(Fp32{});
    if (type == ElementType::f64) return make(Fp64{});
    if constexpr (quantizes(W::bits, ElementType::f16)) {
        if (type == ElementType::f16) return make(Fp16{});
        return make(Bf16{});
    }
    return {};
}

namespace {

/// `Made` has make<W, Format>(), which gives the kernels for a Width and a float format.
template <class Made, class W>
Kernels kernels_of_width(ElementType type) {
    return kernel_for_type<W>(
        type, [](auto format) { return Made::template make<W, decltype(format)>(); });
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
