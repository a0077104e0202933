// osu-bench/ratio/packing_table.hpp - shows what packing without loss (zstd, lz4, the two streams
// of NIC agents) saves in messages of encoded values; the values and the time of what nothing
// disturbs, which main.cpp needs as well.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "element.hpp"

namespace gradcoll::bench {

struct PackingSelection {
    std::vector<std::string> data;
    std::vector<std::string> codecs = {"int8", "2:4+int8", "bound"};
    std::vector<double> ranges;  ///< tolerances of `bound`, as parts of the data's range
    std::size_t count = 0;       ///< number of values
    std::size_t message_elems = std::size_t{1} << 16;
    int repetitions = 5;  ///< the fastest counts
};

/// Prints a row for each kind of data, codec, tolerance and packing. Throws std::runtime_error for
/// an unknown codec, or one that cannot be given the tolerance that it needs.
void print_packing_table(const PackingSelection& selection);

inline std::vector<float> values_of(const std::string& data, std::size_t count) {
    const std::vector<std::byte> bytes = generate(data, *find_element("float"), count, 1, 0);
    std::vector<float> values(count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

/// Returns the time of the fastest of several runs.
template <class Work>
double fastest_seconds(int repetitions, Work work) {
    double fastest = HUGE_VAL;
    for (int i = 0; i < repetitions; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        fastest = std::min(fastest, took.count());
    }
    return fastest;
}

}  // namespace gradcoll::bench
