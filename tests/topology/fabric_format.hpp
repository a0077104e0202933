// tests/topology/fabric_format.hpp - finds a format of fabrics by its name.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "fabric/formats.hpp"

namespace gradcoll::test {

inline const FabricFormat& fabric_format(std::string_view name) {
    const auto& all = fabric_formats();
    const auto format = std::find_if(all.begin(), all.end(),
                                     [&](const FabricFormat& row) { return row.name == name; });
    if (format == all.end()) throw std::out_of_range("no format " + std::string(name));
    return *format;
}

}  // namespace gradcoll::test
