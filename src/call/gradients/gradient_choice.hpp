// call/gradients/gradient_choice.hpp - which way the sums of a gradient go: by whom, over which
// plan, with which codec. Rests only on facts that all ranks share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/gradient_plan.hpp"
#include "engine/link_watch.hpp"
#include "engine/strategy.hpp"
#include "mpi/request.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// GradientPlanner holds the plans of one strategy and the settings that they are made with.
struct GradientPlanner {
    EngineStrategy strategy = EngineStrategy::tree;
    std::string codec;  ///< the codec that a file names; empty: none does
    std::optional<std::uint64_t> chunk_bytes;
    double links_carry = 1;  ///< see Gradient::links_carry()
    Tree tree;
    Settings settings;
    bool one_host = false;  ///< exact sums go through the memory of the host
    std::vector<std::shared_ptr<PlannedCall>> plans;
    /// It plans for the leaders of hosts if sums go through the memory of each host; else it is
    /// null.
    std::unique_ptr<GradientPlanner> between;
    bool is_lossy_between = false;  ///< some exchange of leaders has a lossy codec
};

/// GradientWay says which way a gradient's sums go. One work serves all that go the same way.
struct GradientWay {
    PassReason pass_reason = PassReason::none;  ///< none: it does not pass to the MPI library
    const WayInfo* way = &mpi_way();            ///< hosts_way(): see gradient_hosts.hpp
    GradientPlanner* planner = nullptr;  ///< null only if it passes; the leaders' one through hosts
    CallKey key = {};                    ///< if it does not pass

    bool passes() const { return pass_reason != PassReason::none; }
    bool goes(const WayInfo& there) const { return way == &there; }
    friend bool operator==(const GradientWay&, const GradientWay&) = default;
};

/// GradientChoice chooses the way of each gradient. It is used by one thread at a time, except for
/// base_way().
class GradientChoice {
  public:
    /// Makes it; the context must outlive it. `leader_of` is GradientHosts::leader_of(), empty if
    /// there is none. Errors: those of strategy_tree().
    static Result<std::unique_ptr<GradientChoice>> make(CommContext& context,
                                                        const Settings& settings, GradientPlan plan,
                                                        std::vector<int> leader_of);

    /// Returns the way of a gradient. What the plan's file says of the name holds; what it leaves
    /// open is as the settings have it. With gc_engine=auto that is the strategy that is
    /// predicted to keep links and cores busy for the shortest time. `links_carry`: see
    /// Gradient::links_carry(). Errors: those of strategy_tree().
    Result<GradientWay> way_of(const std::string& name, double links_carry,
                               const CallArguments& arguments, const CallShape& shape);
    bool has_wish_for(const std::string& name) const { return plan_.find(name) != nullptr; }
    /// Returns the way of gradients that no file names and that are summed exact and in place.
    GradientWay base_way(const CallShape& shape) const;
    /// Returns the predicted time of a sum that goes this way and runs alone; 0 if it is not known.
    double predicted_us(const GradientWay& way) const;
    /// Returns what a sum that goes this way should take if links are as they are said to be.
    /// Returns nothing if it passes no link between hosts, or is too short to tell of them.
    ExpectedTime expected(const GradientWay& way) const;

  private:
    GradientChoice(CommContext& context, const Settings& settings, GradientPlan plan,
                   std::vector<int> leader_of)
        : context_(context),
          settings_(settings),
          plan_(std::move(plan)),
          leader_of_(std::move(leader_of)) {}
    /// Terms are what gradients are planned with.
    struct Terms {
        const GradientWish* wish = nullptr;
        double links_carry = 1;
    };
    Result<GradientPlanner*> planner(EngineStrategy strategy, const Terms& terms,
                                     const CallShape& shape);
    Result<std::unique_ptr<GradientPlanner>> new_planner(EngineStrategy strategy,
                                                         const Terms& terms) const;
    DiscoveredTree tree_for(double links_carry) const;
    void plan_between(GradientPlanner& planner, const DiscoveredTree& tree) const;
    GradientWay way_by(GradientPlanner& planner, const CallArguments& arguments,
                       const CallShape& shape) const;

    CommContext& context_;
    const Settings settings_;
    const GradientPlan plan_;
    const std::vector<int> leader_of_;
    std::vector<std::unique_ptr<GradientPlanner>> planners_;
};

}  // namespace gradcoll
