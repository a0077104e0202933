// report.hpp - one measured kernel, for people and for files.
#pragma once

#include <cstddef>
#include <string>

#include "csv.hpp"
#include "moved_bytes.hpp"
#include "summary.hpp"

namespace gradcoll::bench {

/// Residency says where the buffers are. cold: they rotate, so that each call finds nothing in the
/// L2; resident: the same buffers, which fit into it, are used again.
enum class Residency { cold, resident };
std::string_view name_of(Residency residency);

struct GpuRow {
    Kind kind;
    CodecWork work = CodecWork::encode;
    std::string form;  ///< which of the kernels that give the same bytes
    std::size_t size_bytes = 0;
    Residency residency = Residency::cold;
    MovedBytes moved;
    double kernel_gb_s = 0;  ///< median over the repeats, 10^9 bytes read and written a second
    double copy_gb_s = 0;    ///< the copy's rate, likewise
    Spread ratio;            ///< over the repeats, of copy time / kernel time
};

/// GpuFacts is the same for all rows.
struct GpuFacts {
    std::string device;  ///< "NVIDIA H100 80GB HBM3"
    int major = 0;       ///< compute capability
    int minor = 0;
    std::size_t l2_bytes = 0;
    int runtime = 0;  ///< 13000: 13.0
    int driver = 0;
};

void print_head(const GpuFacts& facts, int repeats);
void print_row(const GpuRow& row);
Columns columns_of(const GpuFacts& facts, const GpuRow& row);

}  // namespace gradcoll::bench
