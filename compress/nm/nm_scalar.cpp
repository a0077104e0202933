// compress/nm/nm_scalar.cpp - N:M in plain C++: the reference of all other versions.
#include "compress/nm/nm_table.hpp"

namespace gradcoll {
namespace {

template <class Shape, class Format>
using Block = nm::ScalarBlock<Shape, Format>;

}  // namespace

Kernels nm_kernels_scalar(int keep, int group, ElementType type) {
    return nm::kernels_for<Block>(keep, group, type);
}

}  // namespace gradcoll
