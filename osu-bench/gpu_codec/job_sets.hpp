// job_sets.hpp - the buffers of one measurement, filled on the device, and what the CPU says must
// come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "moved_bytes.hpp"

namespace gradcoll::bench {

using Bytes = std::vector<std::byte>;

/// What goes into a work and what the CPU's codec makes of it.
struct Expected {
    Bytes in;
    Bytes residual;  ///< empty if the work has none
    Bytes base;      ///< likewise
    Bytes out;
    Bytes residual_after;
};

/// Finite values of random sign, magnitude and bits.
Bytes random_values(ElementType type, std::size_t count, std::uint64_t seed);
Expected expected_of(const Kind& kind, CodecWork work, std::size_t count, std::uint64_t seed);

/// As many sets of buffers for one work as there must be to rotate through, all with the same data.
class JobSets {
  public:
    JobSets(const Expected& expected, std::size_t count, std::size_t sets);

    std::size_t size() const { return sets_.size(); }
    std::span<const CodecJob> job(std::size_t set) const { return {&jobs_[set % size()], 1}; }
    /// Puts the first set's residual back, and a pattern into its output and what lies behind it.
    void reset_first() const;
    /// What is wrong with the first set's output; empty if it has every byte, and no byte behind
    /// it was touched.
    std::string wrong_in_first() const;

  private:
    struct Set {
        GpuBuffer in, residual, base, out;
    };

    const Expected& expected_;
    std::vector<Set> sets_;
    std::vector<CodecJob> jobs_;
};

}  // namespace gradcoll::bench
