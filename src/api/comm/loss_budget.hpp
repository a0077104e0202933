// api/comm/loss_budget.hpp - what the encodings of one call may lose, so that its result keeps the
// promise of gc_tolerance. Pure.
//
// An element of the result is a sum of floating-point additions over the ranks' inputs x, at most
// `chain` of them one after another, some of whose operands were encoded. With u the rounding of
// one addition, g = chain u / (1 - chain u), and L what all its encodings lose together, it is off
// by at most
//   L + g (sum of |x| + L)
// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, section 4.2). The sum of
// |x| is at most n times the largest |x| of all n ranks, M. So a tolerance T leaves the encodings
//   L = (T - g n M) / (1 + g).
#pragma once

#include <cstdint>

#include "api/settings/settings.hpp"
#include "reduce/extent.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

struct LossBudget {
    double tolerance = 0;      ///< what is promised
    double for_encodings = 0;  ///< for all of an element together; 0: nothing is left for them
};

/// `inputs`: of all ranks together.
LossBudget loss_budget_of(const ResultTolerance& tolerance, const Extent& inputs, ElementType type,
                          const Tree& tree);

/// Additions one after another that an element of the result goes through at most, whether the
/// ranks of a host use its memory or messages.
std::int64_t longest_chain(const Tree& tree);

/// Whether codes of equal steps, each off by at most `abs`, are short enough to be worth making.
bool is_worth_encoding(const Extent& inputs, ElementType type, double abs);

}  // namespace gradcoll
