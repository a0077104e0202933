// ways/loss_budget.hpp - how one sum keeps the promise of gc_tolerance: in which type its
// elements are added, and what its encodings may lose. Pure.
//
// An element of the result is a sum of floating-point additions over the ranks' inputs x, at most
// `chain` of them one after another, some of whose operands were encoded. With u the rounding of
// one addition, g = chain u / (1 - chain u), and L what all its encodings lose together, it is off
// by at most
//   L + g (sum of |x| + L)
// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 4.2). The sum of
// |x| is at most n times the largest |x| of all n ranks, M. So a tolerance T leaves the encodings
//   L = (T - g n M) / (1 + g).
// Where that is too little, elements are added in the next wider type, whose g is smaller, and the
// result is rounded once to the type of the call. That rounding depends on the result: where the
// bound for it, u (n M + T), does not fit, encodings get half, and the result itself shows whether
// the promise is kept (wide_sum.hpp).
#pragma once

#include <cmath>
#include <cstdint>

#include "reduce/extent.hpp"
#include "settings/settings.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// SumFacts holds what the error of a sum depends on.
struct SumFacts {
    ElementType type = ElementType::f32;
    int ranks = 1;
    std::int64_t chain = 0;  ///< largest number of additions one after another over the tree; a sum
                             ///< that is exact, or in the wider type, may be added up in any order
};

struct LossBudget {
    ElementType added_in = ElementType::f32;  ///< the type of the call, or the next wider one
    double tolerance = 0;                     ///< the promise: how far off an element may be
    double for_encodings = 0;  ///< what all encodings of an element together may lose; 0: nothing
                               ///< is left for them
    double growth = 0;         ///< g of the type that is added in
    double additions = 0;      ///< how far the additions may be off: g n M
    /// If this is set, the promise holds whatever the result is; else the result shows whether it
    /// does.
    bool is_sure = false;

    bool allows(double off) const { return off <= tolerance && std::isfinite(off); }
    /// Returns whether a sum whose result is off by so much is to be made again, with encodings
    /// that lose nothing.
    bool must_be_made_again(double off) const {
        return !is_sure && !allows(off) && for_encodings > 0;
    }
    /// Returns how far an element may be off before it is rounded to the type of the call.
    double off_before_rounding() const { return additions + for_encodings * (1 + growth); }
};

/// Returns the budget of a sum that may be compressed. `inputs` is the extent of the inputs of all
/// ranks together.
LossBudget loss_budget_of(const ResultTolerance& tolerance, const Extent& inputs,
                          const SumFacts& sum);
/// Returns the budget of a sum whose encodings lose nothing.
LossBudget exact_budget_of(const ResultTolerance& tolerance, const Extent& inputs,
                           const SumFacts& sum);

/// Returns whether the additions of a sum are off by nothing at all: all partial sums fit the
/// digits of the type that is added in. `lowest_bit` is that of all ranks' elements
/// (lowest_bit_of()).
bool adds_exactly(const LossBudget& budget, const Extent& inputs, const SumFacts& sum,
                  int lowest_bit);

/// Returns how many additions one after another an element of the result goes through at most,
/// whether the ranks of a host use its memory or messages.
std::int64_t longest_chain(const Tree& tree);

/// Returns whether codes of equal steps, each off by at most `abs`, are short enough to be worth
/// making.
bool is_worth_encoding(const Extent& inputs, ElementType type, double abs);

}  // namespace gradcoll
