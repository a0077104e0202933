// ways/learn/call_rates.hpp - how fast long calls were, by size: what two plans are compared by,
// and one plan with itself at another time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "comm/started_calls.hpp"

namespace gradcoll {

/// CallRates holds the highest rate for each power of two of vector bytes, for exact and compressed
/// calls apart. Whoever comes last into a call waits for nobody, so the highest of all ranks is
/// what the network does.
class CallRates {
  public:
    void add(std::uint64_t vector_bytes, bool exact, std::uint64_t elapsed_ns) {
        if (vector_bytes == 0 || elapsed_ns == 0) return;
        double& highest = highest_[bin_of(vector_bytes, exact)];
        const double rate = static_cast<double>(vector_bytes) / static_cast<double>(elapsed_ns);
        if (rate > highest) highest = rate;
    }
    bool has(std::uint64_t vector_bytes, bool exact) const {
        return highest_[bin_of(vector_bytes, exact)] > 0;
    }

    /// Takes over the rates of sizes that it does not know.
    void add_sizes_of(const CallRates& other) {
        for (std::size_t bin = 0; bin < highest_.size(); ++bin)
            if (highest_[bin] <= 0) highest_[bin] = other.highest_[bin];
    }
    bool is_empty() const {
        for (const double rate : highest_)
            if (rate > 0) return false;
        return true;
    }

    /// Raises the rates to the highest of all ranks. Collective. Errors: transport.
    Status agree(MPI_Comm comm) {
        return allreduce_going_on(highest_.data(), static_cast<int>(highest_.size()), MPI_DOUBLE,
                                  MPI_MAX, comm);
    }

    /// Returns how many times as long calls take here as in `other`, with one call of each size
    /// that both know. Returns nothing if there is none.
    std::optional<double> slowness_to(const CallRates& other) const {
        double here = 0;
        double there = 0;
        for (std::size_t bin = 0; bin < highest_.size(); ++bin) {
            if (highest_[bin] <= 0 || other.highest_[bin] <= 0) continue;
            here += 1 / highest_[bin];
            there += 1 / other.highest_[bin];
        }
        if (there <= 0) return {};
        return here / there;
    }

  private:
    static constexpr std::size_t sizes = 64;
    static std::size_t bin_of(std::uint64_t bytes, bool exact) {
        return static_cast<std::size_t>(std::bit_width(bytes) - 1) + (exact ? 0 : sizes);
    }

    std::array<double, 2 * sizes> highest_{};
};

}  // namespace gradcoll
