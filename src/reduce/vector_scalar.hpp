// reduce/vector_scalar.hpp - 16-byte vectors, which compilers lower to whatever any CPU has.
#pragma once

#include <cstddef>

#include "reduce/vector.hpp"

namespace gradcoll::vectors {
namespace {

struct Scalar {
    static constexpr std::size_t vector_bytes = 16;
    static constexpr bool converts_fp16 = false;

    template <class V>
    [[gnu::always_inline]] static void stream(unsigned char* to, V vector) {
        store_vector(to, vector);
    }
    static void fence() {}
};

}  // namespace
}  // namespace gradcoll::vectors
