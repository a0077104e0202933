// base/index.hpp - numbers of ranks, vertices and levels, which are signed, as places in a vector.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradcoll {

constexpr std::size_t at(std::int64_t number) {
    return static_cast<std::size_t>(number);
}

}  // namespace gradcoll
