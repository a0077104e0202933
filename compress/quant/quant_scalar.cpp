// compress/quant/quant_scalar.cpp - quantization in plain C++: the reference of all other versions.
#include "compress/quant/quant_table.hpp"

namespace gradcoll {

Kernels quant_kernels_scalar(int bits, ElementType type) {
    return quant::kernels_for<quant::ScalarBlock>(bits, type);
}

}  // namespace gradcoll
