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

/// What a sum is, as far as its error goes.
struct SumFacts {
    ElementType type = ElementType::f32;
    int ranks = 1;
    std::int64_t chain = 0;  ///< additions one after another over the tree, at most; a sum that is
                             ///< exact, or in the wider type, may be added up in any order
};

struct LossBudget {
    ElementType added_in = ElementType::f32;  ///< the type of the call, or the next wider one
    double tolerance = 0;                     ///< what is promised
    double for_encodings = 0;  ///< for all of an element together; 0: nothing is left for them
    double growth = 0;         ///< g of the type that is added in
    double additions = 0;      ///< what they may be off: g n M
    /// Whether the promise holds whatever the result is. Else it shows.
    bool is_sure = false;

    bool allows(double off) const { return off <= tolerance && std::isfinite(off); }
    /// Whether a sum whose result is off by so much is to be made again, with encodings that lose
    /// nothing.
    bool must_be_made_again(double off) const {
        return !is_sure && !allows(off) && for_encodings > 0;
    }
    /// How far an element may be off before it is rounded to the type of the call.
    double off_before_rounding() const { return additions + for_encodings * (1 + growth); }
};

/// The sum may be compressed. `inputs`: of all ranks together.
LossBudget loss_budget_of(const ResultTolerance& tolerance, const Extent& inputs,
                          const SumFacts& sum);
/// The encodings of the sum lose nothing.
LossBudget exact_budget_of(const ResultTolerance& tolerance, const Extent& inputs,
                           const SumFacts& sum);

/// Whether the additions of a sum are off by nothing at all: all partial sums fit the digits of the
/// type that is added in. `lowest_bit`: of all ranks' elements (lowest_bit_of()).
bool adds_exactly(const LossBudget& budget, const Extent& inputs, const SumFacts& sum,
                  int lowest_bit);

/// Additions one after another that an element of the result goes through at most, whether the
/// ranks of a host use its memory or messages.
std::int64_t longest_chain(const Tree& tree);

/// Whether codes of equal steps, each off by at most `abs`, are short enough to be worth making.
bool is_worth_encoding(const Extent& inputs, ElementType type, double abs);

}  // namespace gradcoll
