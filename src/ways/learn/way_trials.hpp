// ways/learn/way_trials.hpp - whether exact allreduces between hosts are faster our way or the
// MPI library's: tried now and then in the first calls of each size, where the forecast does not
// say.
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

enum class TriedWay : std::uint8_t { unknown, ours, mpi };

/// By powers of two of vector bytes: the faster one, as far as it is known.
using TriedWays = std::array<TriedWay, 64>;

/// What a trial found, in nanoseconds: the mean over ranks of each way's fastest call.
struct TrialTimes {
    double ours_ns = 0;
    double mpi_ns = 0;
};

/// All ranks ask and add alike. By one thread at a time.
class WayTrials {
  public:
    /// Shorter calls are not tried: times vary by more than there is to gain.
    static constexpr std::uint64_t least_bytes = 64 << 10;
    /// One call by the MPI library, and the next one our way. After half of these pairs a clear
    /// difference ends the trial.
    static constexpr int most_pairs = 4;
    /// Before each pair so many others go our way, which pay for it: the MPI library may take twice
    /// as long.
    static constexpr int calls_before_pair = 32;

    /// With what is known; `tries`: whether the rest is tried.
    void begin(const TriedWays& known, bool tries);
    /// All calls go our way.
    void stop() { *this = {}; }
    /// Whether any call goes another way than ours, or may yet.
    bool is_on() const { return is_on_; }
    /// Whether vectors of that size are being tried, or will be.
    bool tries(std::uint64_t vector_bytes) const;
    /// Ours, without a trial.
    void settle(std::uint64_t vector_bytes) { known_[bin_of(vector_bytes)] = TriedWay::ours; }
    /// Whether the next call of that size would be the first that goes the other way.
    bool is_about_to_begin(std::uint64_t vector_bytes) const;

    /// The one that the next call of that size is to go.
    TriedWay next(std::uint64_t vector_bytes) const;
    /// A call of that size has ended, on whatever rank and however; one that did not go the next()
    /// way is not counted. Collective now and then; then the answer may be what the trial found.
    /// Errors: transport.
    Result<std::optional<TrialTimes>> add(MPI_Comm comm, std::uint64_t vector_bytes, TriedWay way,
                                          std::uint64_t elapsed_ns);
    const TriedWays& known() const { return known_; }

    /// Calls with as many bytes as `vector_bytes`, or nearly, from `first` on and before `end`, are
    /// of one size here.
    struct Size {
        std::uint64_t first = 0;
        std::uint64_t end = 0;
    };
    static Size size_of(std::uint64_t vector_bytes);

  private:
    /// This rank's times, a byte.
    struct Trial {
        int calls_before = 0;
        int times = 0;
        std::array<double, 2 * most_pairs> times_ns{};

        bool is_mpis_turn() const { return times % 2 == 0 && calls_before == calls_before_pair; }
        double fastest_ns(TriedWay way) const;
    };
    static std::size_t bin_of(std::uint64_t vector_bytes);

    bool is_on_ = false;
    TriedWays known_{};
    std::vector<Trial> trials_;  ///< as many as ways; none: nothing is tried
};

/// Whether no allreduce of the MPI library can be nearly as fast, by the model: a ring through the
/// ranks in their order, which takes nothing but its bytes on the busiest link. No if links are not
/// known. `ours_us`: as predicted; 0: not known. Time: ranks times height.
bool is_surely_faster(const Tree& tree, const Tuning& tuning, std::int64_t vector_bytes,
                      double ours_us);

}  // namespace gradcoll
