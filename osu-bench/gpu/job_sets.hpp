// job_sets.hpp - the buffers of one measurement, filled on the device, and the result that the CPU
// expects.
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

/// Expected is the input of a work and what the CPU's codec makes of it.
struct Expected {
    Bytes in;
    Bytes residual;  ///< empty if the work has none
    Bytes base;      ///< empty if the work has none
    Bytes out;
    Bytes residual_after;
};

/// Returns finite values of random sign, magnitude and bits.
Bytes random_values(ElementType type, std::size_t count, std::uint64_t seed);
Expected expected_of(const Kind& kind, CodecWork work, std::size_t count, std::uint64_t seed);

/// JobSets has as many sets of buffers for one work as are needed to rotate through, all with the
/// same data.
class JobSets {
  public:
    JobSets(const Expected& expected, std::size_t count, std::size_t sets);

    std::size_t size() const { return sets_.size(); }
    std::span<const CodecJob> job(std::size_t set) const { return {&jobs_[set % size()], 1}; }
    /// Restores the first set's residual, and fills its output and what lies behind with a pattern.
    void reset_first() const;
    /// Returns what is wrong with the first set's output; empty if it has every byte, and no byte
    /// behind it was touched.
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
