// compress/lanes/float_types.hpp - the float formats as tags: how they lie in memory and in which
// format we calculate.
#pragma once

#include <cstdint>

namespace gradcoll {

struct Fp16 {
    using Bits = std::uint16_t;
    using Wide = float;
};
struct Bf16 {
    using Bits = std::uint16_t;
    using Wide = float;
};
struct Fp32 {
    using Bits = std::uint32_t;
    using Wide = float;
};
struct Fp64 {
    using Bits = std::uint64_t;
    using Wide = double;
};

}  // namespace gradcoll
