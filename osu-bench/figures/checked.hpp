// checked.hpp - throws errors of the library as exceptions, which end a benchmark with their text.
#pragma once

#include <stdexcept>
#include <utility>

#include "base/status.hpp"

namespace gradcoll {

template <class T>
T checked(Result<T> result) {
    if (!result.ok()) throw std::runtime_error(result.status().message());
    return std::move(result).value();
}

inline void check(const Status& status) {
    if (!status.ok()) throw std::runtime_error(status.message());
}

}  // namespace gradcoll
