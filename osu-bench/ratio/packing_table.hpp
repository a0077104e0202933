// osu-bench/ratio/packing_table.hpp - shows what packing without loss (zstd, lz4) saves in messages
// of encoded values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

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

}  // namespace gradcoll::bench
