// memory/store_choice.hpp - how to write memory that other cores read and that is written again
// soon: through the caches, or past them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradcoll {

/// A StoreChoice measures which stores are better. Between cores that share a cache, stores through
/// it are best. Between cores of two caches they are up to five times slower than stores past them,
/// because each line must first be taken away from the other cache (docs/benchmarks.md). Which it
/// is, nothing tells reliably, and in a virtual machine it changes; so a piece of each kind is
/// timed now and then, from its copy to the time when others' pieces of that kind have been read.
/// All ranks number their pieces alike, so they make each trial with the same piece. What follows
/// from it is each rank's own affair: results do not depend on it. Pure; used by one thread at a
/// time.
class StoreChoice {
  public:
    struct Turn {
        bool streaming = false;  ///< whether it goes past the caches
        bool timed = false;      ///< the caller owes note()
    };

    /// Returns how the next piece is to be written.
    Turn next() {
        const std::uint64_t piece = pieces_++;
        const bool trial = is_trial(piece);
        if (!trial && !is_trial(piece - 1)) return {streaming_, false};
        return {!trial, true};
    }
    /// Takes note of what a timed piece cost.
    void note(const Turn& turn, std::size_t size_bytes, std::uint64_t ns);
    /// Returns whether stores past the caches are better, as far as is known.
    bool streaming() const { return streaming_; }

    static constexpr std::uint64_t pieces_between_trials = 256;
    /// The first few trials follow each other so closely, when all slots have been in use once:
    /// pages that are new tell nothing.
    static constexpr std::uint64_t pieces_between_first_trials = 32;

  private:
    /// Returns whether the piece begins a trial; the next piece belongs to it, too.
    static constexpr bool is_trial(std::uint64_t piece) {
        const bool first = piece < pieces_between_trials;
        return piece != 0 &&
               piece % (first ? pieces_between_first_trials : pieces_between_trials) == 0;
    }

    std::uint64_t pieces_ = 0;
    int agreeing_ = 0;  ///< trials in a row that spoke for the other kind
    bool streaming_ = false;
    double through_caches_ = 0;  ///< ns a byte in the trial under way; 0: none is
};

}  // namespace gradcoll
