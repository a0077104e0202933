#include "engine/strategy.hpp"

#include <utility>

namespace gradcoll {
namespace {

/// Puts all ranks below one vertex, in the order of the tree, so that neighbours stay neighbours.
/// Each has the slowest link and all latency of its way up.
Result<Tree> flattened(const Tree& machine) {
    TreeSpec root;
    for (int position = 0; position < machine.rank_count(); ++position) {
        const int leaf = machine.leaf_of(machine.rank_at(position));
        TreeSpec rank;
        rank.kind = machine.vertex(leaf).kind;
        rank.name = machine.vertex(leaf).name;
        rank.rank = machine.vertex(leaf).rank;
        for (int id = leaf; machine.vertex(id).parent >= 0; id = machine.vertex(id).parent)
            rank.uplink = in_a_row(rank.uplink, machine.vertex(id).uplink);
        root.children.push_back(std::move(rank));
    }
    return Tree::make(root);
}

constexpr std::string_view names[] = {"tree", "ring", "ps"};

}  // namespace

std::string_view name_of(EngineStrategy strategy) {
    return names[static_cast<std::size_t>(strategy)];
}

std::optional<EngineStrategy> strategy_named(std::string_view name) {
    for (const EngineStrategy strategy : all_strategies)
        if (name_of(strategy) == name) return strategy;
    return {};
}

Result<StrategyTree> strategy_tree(EngineStrategy strategy, const Tree& machine) {
    if (strategy == EngineStrategy::tree || machine.rank_count() == 1)
        return StrategyTree{machine, {}};
    auto flat = flattened(machine);
    if (!flat) return flat.status();
    return StrategyTree{std::move(flat).value(),
                        strategy == EngineStrategy::ring ? "ring" : "direct"};
}

}  // namespace gradcoll
