// tests/compress/bound_reference.hpp - the codec with a bound on the error as
// compress/bound/README.md says it, one element after another: a part of reference.hpp.
#pragma once

#include "compress/reference.hpp"

namespace gradcoll::test {

bool is_bound(CodecId codec);

Bytes encode_bound(double abs, ElementType type, const Bytes& plain);
Bytes decode_bound(ElementType type, const Bytes& encoded, std::size_t count);

}  // namespace gradcoll::test
