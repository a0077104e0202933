// compress/quant/quant_masks.hpp - what escape_vector_block.hpp asks of masks, where these are
// vectors whose lanes are all ones or 0.
#pragma once

#include "compress/lanes/scalar.hpp"

namespace gradcoll::quant {
namespace {

struct LaneMasks {
    template <class V>
    static auto at_most(V a, V b) {
        return a <= b;
    }
    template <class V>
    static auto at_least(V a, V b) {
        return b <= a;
    }
    template <class V>
    static auto same(V a, V b) {
        using Mask = decltype(a <= b);
        return bit_copy<Mask>(a) == bit_copy<Mask>(b);
    }
    template <class Mask>
    static Mask both(Mask a, Mask b) {
        return a & b;
    }
    template <class Mask>
    static Mask either(Mask a, Mask b) {
        return a | b;
    }
    template <class Mask>
    static Mask not_of(Mask mask) {
        return ~mask;
    }
    template <class Mask, class V>
    static V chosen(Mask mask, V a, V b) {
        return mask ? a : b;
    }
};

}  // namespace
}  // namespace gradcoll::quant
