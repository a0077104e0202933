// ways/learn/call_rates.hpp - a long call that was timed, and how fast such calls were, by size:
// what two plans are compared by, and one plan with itself at another time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "comm/started_calls.hpp"

namespace gradcoll {

/// A LongCall is a long blocking allreduce between hosts, or a call that moves as much, that has
/// ended, on whatever rank and however.
struct LongCall {
    std::uint64_t vector_bytes = 0;
    bool exact = true;
    std::uint64_t elapsed_ns = 0;  ///< time on this rank; all else is the same on all ranks
    bool ends_apart = false;  ///< some ranks end long before others, each with its block or blocks
    bool may_zip = false;     ///< whether it could be packed without loss
    bool zips_otherwise = false;  ///< whether it is packed where such calls usually are not, or not
                                  ///< where they are
};

/// CallRates holds the highest rate for each power of two of vector bytes, for exact and compressed
/// calls apart, and for those that end apart. Whoever comes last into a call waits for nobody, so
/// the highest of all ranks is what the network does. If ranks end apart it is the lowest: each has
/// come last now and then.
class CallRates {
  public:
    void add(const LongCall& call) {
        if (call.vector_bytes == 0 || call.elapsed_ns == 0) return;
        double& highest = highest_[bin_of(call)];
        highest = std::max(
            highest, static_cast<double>(call.vector_bytes) / static_cast<double>(call.elapsed_ns));
    }
    bool has(const LongCall& call) const { return highest_[bin_of(call)] > 0; }

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

    /// Makes the rates those of all ranks. Collective. Errors: transport.
    Status agree(MPI_Comm comm) {
        negate_apart();
        const Status status = allreduce_going_on(highest_.data(), static_cast<int>(highest_.size()),
                                                 MPI_DOUBLE, MPI_MAX, comm);
        negate_apart();
        return status;
    }

    /// Returns how many times as long calls take here as in `other`, with one call of each size
    /// that both know. Returns nothing if there is none.
    std::optional<double> slowness_to(const CallRates& other) const {
        double here = 0;
        double there = 0;
        for (std::size_t bin = 0; bin < highest_.size(); ++bin) {
            if (highest_[bin] <= 0 || other.highest_[bin] <= 0) continue;
            const double bytes = std::ldexp(1, static_cast<int>(bin % sizes));
            here += bytes / highest_[bin];
            there += bytes / other.highest_[bin];
        }
        if (there <= 0) return {};
        return here / there;
    }

  private:
    static constexpr std::size_t sizes = 64;
    static constexpr std::size_t first_apart = 2 * sizes;
    static std::size_t bin_of(const LongCall& call) {
        return static_cast<std::size_t>(std::bit_width(call.vector_bytes) - 1) +
               (call.exact ? 0 : sizes) + (call.ends_apart ? first_apart : 0);
    }
    /// Makes a maximum of all ranks the minimum.
    void negate_apart() {
        for (std::size_t bin = first_apart; bin < highest_.size(); ++bin)
            highest_[bin] = -highest_[bin];
    }

    std::array<double, 2 * first_apart> highest_{};
};

}  // namespace gradcoll
