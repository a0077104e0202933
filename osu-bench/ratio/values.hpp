// osu-bench/ratio/values.hpp - makes the values that are packed.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "generators.hpp"

namespace gradcoll::bench {

inline std::vector<float> values_of(const std::string& data, std::size_t count) {
    const std::vector<std::byte> bytes = generate(data, *find_element("float"), count, 1, 0);
    std::vector<float> values(count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

}  // namespace gradcoll::bench
