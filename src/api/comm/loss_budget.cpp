#include "api/comm/loss_budget.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "collectives/choose/hop_codecs.hpp"

namespace gradcoll {
namespace {

/// How far one addition is off, relative to its result.
double rounding_of(ElementType type) {
    switch (type) {
        case ElementType::f16:
            return 0x1p-11;
        case ElementType::bf16:
            return 0x1p-8;
        case ElementType::f64:
            return 0x1p-53;
        default:
            return 0x1p-24;
    }
}

std::int64_t branches_but_one(const Tree& tree, int vertex) {
    return static_cast<std::int64_t>(tree.children(vertex).size()) - 1;
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

LossBudget loss_budget_of(const ResultTolerance& tolerance, const Extent& inputs, ElementType type,
                          const Tree& tree) {
    constexpr double own_rounding = 0x1p-40;  // more than these few operations are off
    LossBudget budget;
    budget.tolerance = tolerance.kind == ResultTolerance::Kind::abs
                           ? tolerance.value
                           : tolerance.value * inputs.range();
    const double relative = static_cast<double>(longest_chain(tree)) * rounding_of(type);
    if (relative >= 0.5 || !std::isfinite(budget.tolerance)) return budget;
    const double growth = relative / (1 - relative);
    const double magnitudes = tree.rank_count() * inputs.largest_magnitude();
    const double left = (budget.tolerance - growth * magnitudes) / (1 + growth);
    if (left > 0) budget.for_encodings = left * (1 - own_rounding);
    return budget;
}

bool is_worth_encoding(const Extent& inputs, ElementType type, double abs) {
    constexpr double most_of_plain = 0.75;  // beyond it a core works twice for little
    if (abs <= 0) return false;
    const double plain_bits = 8 * static_cast<double>(element_bytes(type));
    return std::log2(inputs.range() / (2 * abs) + 1) < most_of_plain * plain_bits;
}

}  // namespace gradcoll
