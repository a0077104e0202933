// compress/lanes/elementwise.hpp - loops over whole vectors, then over the elements that are left.
#pragma once

#include <cstddef>

#include "compress/lanes/scalar.hpp"

namespace gradcoll {
namespace {

/// Calls step(lanes, i) for i = 0, elems, 2 elems, ...; `lanes` is a value of the vector type, in
/// the end the scalar one.
template <class Lanes, class Step>
inline void for_lanes(std::size_t count, Step step) {
    const std::size_t whole = count / Lanes::elems * Lanes::elems;
    for (std::size_t i = 0; i < whole; i += Lanes::elems) step(Lanes{}, i);
    for (std::size_t i = whole; i < count; ++i) step(ScalarLanes<typename Lanes::Format>{}, i);
}

/// Returns a + b, calculated wide and rounded once; by the lanes' own way where they have a shorter
/// one.
template <class Lanes>
inline typename Lanes::Reg sum_of(typename Lanes::Reg a, typename Lanes::Reg b) {
    if constexpr (requires { Lanes::sum(a, b); })
        return Lanes::sum(a, b);
    else
        return Lanes::narrow(Lanes::add(Lanes::widen(a), Lanes::widen(b)));
}

template <class T>
inline const std::byte* element_at(const void* array, std::size_t index) {
    return static_cast<const std::byte*>(array) + index * sizeof(T);
}
template <class T>
inline std::byte* element_at(void* array, std::size_t index) {
    return static_cast<std::byte*>(array) + index * sizeof(T);
}

}  // namespace
}  // namespace gradcoll
