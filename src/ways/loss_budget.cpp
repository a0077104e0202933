#include "ways/loss_budget.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "collectives/choose/hop_codecs.hpp"
#include "reduce/widen.hpp"

namespace gradcoll {
namespace {

/// The few operations of this file are themselves off by at most this fraction.
constexpr double own_rounding = 0x1p-40;

double tolerance_of(const ResultTolerance& tolerance, const Extent& inputs) {
    return tolerance.kind == ResultTolerance::Kind::abs ? tolerance.value
                                                        : tolerance.value * inputs.range();
}

double magnitudes_of(const Extent& inputs, const SumFacts& sum) {
    return sum.ranks * inputs.largest_magnitude();
}

/// Returns the budget of a sum without encodings that is added in `type`. Its additions may be off
/// by anything if the chain is too long, or if sums may leave the range of that type.
LossBudget added_in(ElementType type, double tolerance, double magnitudes, std::int64_t chain) {
    LossBudget budget;
    budget.added_in = type;
    budget.tolerance = tolerance;
    const double relative = static_cast<double>(chain) * rounding_of(type);
    const bool is_bounded = relative < 0.5 && magnitudes + tolerance < largest_of(type);
    budget.growth = relative < 0.5 ? relative / (1 - relative) : 1;
    budget.additions = is_bounded ? budget.growth * magnitudes * (1 + own_rounding)
                                  : std::numeric_limits<double>::infinity();
    return budget;
}

/// Returns how far rounding the result of a wider type to `type` may be off at most; infinity if
/// the result may become Inf.
double last_rounding(ElementType type, double magnitudes, double tolerance) {
    constexpr double least = 0x1p-25;  // half of the smallest number of fp16; other types have
                                       // smaller ones
    const double most = magnitudes + tolerance;
    if (!(most < largest_of(type))) return std::numeric_limits<double>::infinity();
    return std::max(most * rounding_of(type), type == ElementType::f16 ? least : 0x1p-134);
}

/// Returns what is left for encodings if the result may be `off` by so much anyway.
double left_for_encodings(const LossBudget& budget, double off) {
    const double left = (budget.tolerance - off) / (1 + budget.growth) * (1 - own_rounding);
    return left > 0 ? left : 0;
}

std::int64_t branches_but_one(const Tree& tree, int vertex) {
    return static_cast<std::int64_t>(tree.children(vertex).size()) - 1;
}

/// Returns what encodings may lose if the promise need only be likely. It supposes that rounding a
/// result loses no more than rounding a number as large as the largest input. It returns half of
/// the tolerance at most, so that larger results are most often within it, too.
double most_if_likely(const LossBudget& wide, ElementType type, const Extent& inputs) {
    int exponent = 0;
    std::frexp(inputs.largest_magnitude(), &exponent);
    const double half_unit = std::ldexp(rounding_of(type), exponent - 1);
    return std::min(left_for_encodings(wide, wide.additions + half_unit), wide.tolerance / 2);
}

}  // namespace

/// The memory of a host adds up its ranks in any order.
std::int64_t longest_chain(const Tree& tree) {
    std::vector<std::int64_t> to_root(static_cast<std::size_t>(tree.vertex_count()), 0);
    std::int64_t longest = 0;
    for (const int vertex : tree.inner_vertices()) {
        const int above = tree.vertex(vertex).parent;
        if (above >= 0 && is_inside_host(tree, above)) continue;
        const std::int64_t own = is_inside_host(tree, vertex) ? tree.vertex(vertex).leaf_count - 1
                                                              : branches_but_one(tree, vertex);
        std::int64_t& chain = to_root[static_cast<std::size_t>(vertex)];
        chain = own + (above >= 0 ? to_root[static_cast<std::size_t>(above)] : 0);
        longest = std::max(longest, chain);
    }
    return longest;
}

LossBudget loss_budget_of(const ResultTolerance& tolerance, const Extent& inputs,
                          const SumFacts& sum) {
    const double promised = tolerance_of(tolerance, inputs);
    const double magnitudes = magnitudes_of(inputs, sum);
    LossBudget as_it_is = added_in(sum.type, promised, magnitudes, sum.chain);
    as_it_is.for_encodings = left_for_encodings(as_it_is, as_it_is.additions);
    as_it_is.is_sure = as_it_is.allows(as_it_is.additions);
    if (as_it_is.for_encodings >= promised / 2 || !has_wider_type(sum.type)) return as_it_is;

    LossBudget wide = added_in(wider_type(sum.type), promised, magnitudes, sum.ranks - 1);
    const double surely_off = wide.additions + last_rounding(sum.type, magnitudes, promised);
    wide.for_encodings = left_for_encodings(wide, surely_off);
    wide.is_sure = wide.allows(surely_off);
    // The bound is far from what results most often need.
    const double most_likely = most_if_likely(wide, sum.type, inputs);
    if (wide.for_encodings < promised / 4 && most_likely >= promised / 8) {
        wide.for_encodings = most_likely;
        wide.is_sure = false;
    }
    return wide.for_encodings > as_it_is.for_encodings ? wide : as_it_is;
}

LossBudget exact_budget_of(const ResultTolerance& tolerance, const Extent& inputs,
                           const SumFacts& sum) {
    const double promised = tolerance_of(tolerance, inputs);
    const double magnitudes = magnitudes_of(inputs, sum);
    LossBudget budget = added_in(sum.type, promised, magnitudes, sum.ranks - 1);
    budget.is_sure = budget.allows(budget.additions);
    if (budget.is_sure || !has_wider_type(sum.type)) return budget;
    budget = added_in(wider_type(sum.type), promised, magnitudes, sum.ranks - 1);
    budget.is_sure =
        budget.allows(budget.additions + last_rounding(sum.type, magnitudes, promised));
    return budget;
}

bool adds_exactly(const LossBudget& budget, const Extent& inputs, const SumFacts& sum,
                  int lowest_bit) {
    const double magnitudes = magnitudes_of(inputs, sum);
    const double digits = 1 / rounding_of(budget.added_in);
    return magnitudes < largest_of(budget.added_in) && magnitudes <= std::ldexp(digits, lowest_bit);
}

bool is_worth_encoding(const Extent& inputs, ElementType type, double abs) {
    constexpr double most_of_plain = 0.75;  // beyond it a core works twice for little
    if (abs <= 0) return false;
    const double plain_bits = 8 * static_cast<double>(element_bytes(type));
    return std::log2(inputs.range() / (2 * abs) + 1) < most_of_plain * plain_bits;
}

}  // namespace gradcoll
