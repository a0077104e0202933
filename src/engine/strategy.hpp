// engine/strategy.hpp - how ranks sum a gradient: all strategies are plans, so made of the same
// steps (encode, decode, add, send, receive), and run by the same engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

enum class EngineStrategy : std::uint8_t {
    tree,  ///< FlexReduce: over the tree of the machine
    ring,  ///< from rank to rank, in the order in which the tree has them
    ps     ///< co-located parameter servers: every rank sums its share of the vector, and sends it
           ///< back
};

inline constexpr EngineStrategy all_strategies[] = {EngineStrategy::tree, EngineStrategy::ring,
                                                    EngineStrategy::ps};
/// Returns the name that settings and files use; static.
std::string_view name_of(EngineStrategy strategy);
/// Returns nothing if there is no such name.
std::optional<EngineStrategy> strategy_named(std::string_view name);

/// StrategyTree is what a plan is made for.
struct StrategyTree {
    Tree tree;
    std::string_view exchange;  ///< its name, static text; empty if the settings choose
};
/// Returns what to plan for; `machine` is the tree of the ranks. Errors: those of Tree::make().
Result<StrategyTree> strategy_tree(EngineStrategy strategy, const Tree& machine);

}  // namespace gradcoll
