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
    /// It plans for packs, whatever their size. What limits the sizes of calls that are compressed
    /// has been asked of each gradient then.
    bool for_packs = false;
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
    GradientPlanner* whole = nullptr;    ///< the same, or the one of all ranks through hosts
    CallKey key = {};                    ///< if it does not pass
    /// Its sums are always parts of packs, if need be of a pack of one: a codec that does not pay
    /// for the gradient may pay for a pack. `way` and `planner` are those of a full pack.
    bool packed = false;
    /// It is a sum of floats whose result is to be the same anywhere (gc_reproducible).
    bool on_grid = false;

    bool passes() const { return pass_reason != PassReason::none; }
    bool goes(const WayInfo& there) const { return way == &there; }
    friend bool operator==(const GradientWay&, const GradientWay&) = default;
};

/// Returns the multiple of elements at which each gradient of a pack begins. Where packs are
/// compressed, codecs see the same blocks of it as if it were alone.
std::int64_t pack_granule_of(const GradientWay& member);

/// GradientChoice chooses the way of each gradient. It is used by one thread at a time, except for
/// pack_way().
class GradientChoice {
  public:
    /// Makes it; the context must outlive it. `leader_of` is GradientHosts::leader_of(), empty if
    /// there is none. `packs` says whether gradients may be packed. Errors: those of
    /// strategy_tree().
    static Result<std::unique_ptr<GradientChoice>> make(CommContext& context,
                                                        const Settings& settings, GradientPlan plan,
                                                        std::vector<int> leader_of, bool packs);

    /// Returns the way of a gradient. What the plan's file says of the name holds; what it leaves
    /// open is as the settings have it. With gc_engine=auto that is the strategy that is
    /// predicted to keep links and cores busy for the shortest time. `links_carry`: see
    /// Gradient::links_carry(). Errors: those of strategy_tree().
    Result<GradientWay> way_of(const std::string& name, double links_carry,
                               const CallArguments& arguments, const CallShape& shape);
    /// Returns how many bytes the gradients of a pack may send together; 0: none is packed.
    std::uint64_t pack_bytes() const { return pack_bytes_; }
    bool has_wish_for(const std::string& name) const { return plan_.find(name) != nullptr; }
    /// Returns the way of a pack of gradients that go as `member`, all of them together of this
    /// shape. It is summed in place, and exact unless they are compressed and it pays.
    GradientWay pack_way(const GradientWay& member, const CallShape& shape) const;
    /// Returns how many bytes the vector of a gradient in compressed packs encodes to, with the
    /// lossy codec that takes most.
    std::uint64_t encoded_bytes(const GradientWay& member) const;
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
        bool for_packs = false;
    };
    Result<GradientPlanner*> planner(EngineStrategy strategy, const Terms& terms,
                                     const CallShape& shape);
    Result<std::unique_ptr<GradientPlanner>> new_planner(EngineStrategy strategy,
                                                         const Terms& terms) const;
    DiscoveredTree tree_for(double links_carry) const;
    void plan_between(GradientPlanner& planner, const DiscoveredTree& tree) const;
    enum class Loss : std::uint8_t { none, allowed };
    GradientWay way_by(GradientPlanner& planner, bool in_place, const CallShape& shape,
                       Loss loss = Loss::allowed) const;
    Result<GradientWay> best_way(const Terms& terms, bool in_place, const CallShape& shape);
    bool may_be_compressed(bool in_place, const CallShape& shape) const;

    CommContext& context_;
    const Settings settings_;
    const GradientPlan plan_;
    const std::vector<int> leader_of_;
    std::uint64_t pack_bytes_ = 0;
    std::vector<std::unique_ptr<GradientPlanner>> planners_;
};

}  // namespace gradcoll
