// compress/chain/chain_scalar.cpp - chains in plain C++: the reference of all other versions.
#include "compress/chain/chain_table.hpp"

namespace gradcoll {
namespace {

struct Scalar {
    template <class Shape, class Format>
    using Nm = nm::ScalarBlock<Shape, Format>;
    template <class W, class Format, std::size_t block>
    using Quant = quant::ScalarBlock<W, Format, block>;
};

}  // namespace

Kernels chain_kernels_scalar(int keep, int bits, ElementType type) {
    return chain::kernels_for<Scalar>(keep, bits, type);
}

}  // namespace gradcoll
