// compress/quant/quant_scalar.cpp - quantization in plain C++: the reference of all other versions.
#include "compress/quant/dither_table.hpp"
#include "compress/quant/quant_table.hpp"

namespace gradcoll {
namespace {

template <class W, class Format>
using WholeBlock = quant::ScalarBlock<W, Format>;

}  // namespace

Kernels quant_kernels_scalar(int bits, ElementType type) {
    return quant::kernels_by_type<quant::RoundedToNearest<WholeBlock>>(bits, type);
}
Kernels dither_kernels_scalar(int bits, ElementType type) {
    return quant::kernels_by_type<quant::RoundedByChance<WholeBlock>>(bits, type);
}

}  // namespace gradcoll
