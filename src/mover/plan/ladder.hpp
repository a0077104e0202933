// mover/plan/ladder.hpp - which gaps a rank uses for each size of its device's memory, by an order
// that knows neither the size nor the link.
#pragma once

#include <cstdint>
#include <vector>

#include "mover/plan/gaps.hpp"
#include "mover/plan/held_memory.hpp"

namespace gradcoll::mover {

/// Prefer says which gap around the operator that needs most is used next.
enum class Prefer : std::uint8_t { longest, longest_per_byte, oldest };

/// Says for which sizes of memory there are choices: for what rungs of the ladder need; for many
/// sizes, the first rung that needs no more, with all of that memory for what comes back; or for
/// many sizes, and gaps with more bytes than are missing come last.
enum class Sizes : std::uint8_t { rungs, many, fitted };

/// A Pattern is a way to use gaps. `gone` operators after its last use a tensor counts as gone, and
/// `back` before its next use it counts as there: that is the time that its moves have. `ahead`
/// says that tensors that live in the host, and for which there is room as a step begins, come back
/// in the step before.
struct Pattern {
    Prefer prefer = Prefer::longest;
    std::int32_t gone = 0, back = 0;
    Sizes sizes = Sizes::rungs;
    bool ahead = false;
};

/// A Ladder uses one gap after the other, each where most memory is needed, until no gap is left
/// there: each rung needs less memory than the one before. It follows from the program alone, so
/// that a larger memory has all choices of a smaller one (docs/decisions/047-ladders.md).
class Ladder {
  public:
    /// `starts` are those of a step without moves, `unmoved` what it holds. All but gaps and
    /// pattern must outlive the ladder. Complexity: n log^2 n in operators and gaps.
    Ladder(const RankProgram& rank, const std::vector<Tick>& starts, const HeldMemory& unmoved,
           std::vector<Gap> gaps, Pattern pattern);

    /// Returns what the rank needs on each rung, descending; the first has only what must move.
    const std::vector<std::int64_t>& needs() const { return needs_; }
    std::int64_t least() const { return needs_.back(); }
    /// Returns what the rank needs if nothing moves.
    std::int64_t unmoved() const { return unmoved_.most(0, unmoved_.count()); }
    /// Returns what the first choice for `bytes` needs: no more than that, unless least() is
    /// more.
    std::int64_t need_within(std::int64_t bytes) const;

    /// Returns the first choice that needs at most `bytes`, which is at least least(), or the one
    /// that is fitted to them. Gaps that later ones made needless are left out, and tensors come
    /// back as soon as `bytes` has room for them.
    RankChoice choice_for(std::int64_t bytes) const;

  private:
    struct Window {
        std::size_t from = 0, end = 0;
    };
    class Around;

    Window window_of(const Gap& gap) const;
    Tick length_of(const Gap& gap) const;
    double worth_of(const Gap& gap) const;
    void climb();
    void hold(HeldMemory& held, std::size_t g, std::int64_t sign) const;
    HeldMemory held_without(const std::vector<char>& used) const;
    void use_fitting(HeldMemory& held, std::vector<char>& used, std::int64_t bytes) const;
    void drop_needless(HeldMemory& held, std::vector<char>& used, std::int64_t bytes) const;
    std::int32_t back_from(HeldMemory& held, std::size_t g, std::int64_t bytes) const;
    void fetch_ahead(HeldMemory& held, std::int64_t bytes, std::vector<std::int32_t>& back) const;

    const RankProgram& rank_;
    const std::vector<Tick>& starts_;
    std::vector<Gap> gaps_;
    Pattern pattern_;
    const HeldMemory& unmoved_;
    std::vector<Window> windows_;
    std::vector<std::size_t> order_;  ///< gaps, those of the highest worth first
    std::vector<std::size_t> used_;   ///< gaps in the order in which they are used
    std::vector<std::int64_t> needs_;
    std::vector<std::size_t> by_window_, by_need_;  ///< all gaps: short windows first, early needs
};

}  // namespace gradcoll::mover
