// compress/quant/escape_scalar.cpp - quantization with a tolerance in plain C++: the reference of
// all other versions.
#include "compress/quant/escape_table.hpp"

namespace gradcoll {

Kernels escape_kernels_scalar(int bits, ElementType type) {
    return quant::kernels_by_type<quant::WithEscapes<quant::EscapeScalarBlock>>(bits, type);
}

}  // namespace gradcoll
