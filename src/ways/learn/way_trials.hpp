// ways/learn/way_trials.hpp - which of two ways is faster for exact allreduces between hosts: tried
// now and then in the first calls of each size, where the forecast does not say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "collectives/predict/tuning.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// TriedWay is the way that calls usually go, ours, or the other one: the MPI library's, or ours
/// with more messages packed.
enum class TriedWay : std::uint8_t { unknown, ours, other };

/// TriedWays holds the faster way for each power of two of vector bytes, as far as it is known.
using TriedWays = std::array<TriedWay, 64>;

/// TrialTimes is what a trial found, in nanoseconds: the mean over ranks of each way's fastest
/// call.
struct TrialTimes {
    double ours_ns = 0;
    double other_ns = 0;
};

/// WayTrials is used by one thread at a time; all ranks ask and add alike.
class WayTrials {
  public:
    /// Shorter calls are not tried: times vary by more than there is to gain.
    static constexpr std::uint64_t least_bytes = 64 << 10;
    /// A pair is one call the other way, and the next one our way. After half of these pairs a
    /// clear difference ends the trial.
    static constexpr int most_pairs = 4;
    /// Before each pair so many other calls go our way and pay for it: the other way may take twice
    /// as long.
    static constexpr int calls_before_pair = 32;

    /// Begins with what is known, and tries the rest if `tries` is set.
    void begin(const TriedWays& known, bool tries);
    /// Makes all calls go our way.
    void stop() { *this = {}; }
    /// Returns whether any call goes another way than ours, or may yet.
    bool is_on() const { return is_on_; }
    /// Returns whether vectors of that size are being tried, or will be.
    bool tries(std::uint64_t vector_bytes) const;
    /// Chooses our way for that size, without a trial.
    void settle(std::uint64_t vector_bytes) { known_[bin_of(vector_bytes)] = TriedWay::ours; }
    /// Returns whether the next call of that size would be the first that goes the other way.
    bool is_about_to_begin(std::uint64_t vector_bytes) const;

    /// Returns the way that the next call of that size is to go.
    TriedWay next(std::uint64_t vector_bytes) const;
    /// Adds a call of that size that has ended, on whatever rank and however; one that did not go
    /// the next() way is not counted. Collective now and then; then the answer may be what the
    /// trial found. Errors: transport.
    Result<std::optional<TrialTimes>> add(MPI_Comm comm, std::uint64_t vector_bytes, TriedWay way,
                                          std::uint64_t elapsed_ns);
    const TriedWays& known() const { return known_; }

    /// A Size is a range of vector bytes, from `first` on and before `end`, that are taken for one
    /// size here.
    struct Size {
        std::uint64_t first = 0;
        std::uint64_t end = 0;
    };
    static Size size_of(std::uint64_t vector_bytes);

  private:
    /// A Trial holds this rank's times, in nanoseconds for each byte of the vector.
    struct Trial {
        int calls_before = 0;
        int times = 0;
        std::array<double, 2 * most_pairs> times_ns{};

        bool is_others_turn() const { return times % 2 == 0 && calls_before == calls_before_pair; }
        double fastest_ns(TriedWay way) const;
    };
    static std::size_t bin_of(std::uint64_t vector_bytes);

    bool is_on_ = false;
    TriedWays known_{};
    std::vector<Trial> trials_;  ///< one for each of TriedWays; empty: nothing is tried
};

/// Returns whether, by the model, no allreduce of the MPI library can be nearly as fast as ours.
/// The model takes a ring through the ranks in their order, in which nothing but the bytes on the
/// busiest link takes time. Returns false if links are not known. `ours_us` is our predicted time;
/// 0: not known. Time: ranks times height.
bool is_surely_faster(const Tree& tree, const Tuning& tuning, std::int64_t vector_bytes,
                      double ours_us);

}  // namespace gradcoll
