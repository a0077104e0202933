// ways/agents/agent_sums.hpp - the way of allreduces whose vectors the NIC agents add
// (GC_NIC=on+sum).
#pragma once

#include <optional>

#include "compress/codec.hpp"
#include "transport/vector_sums.hpp"
#include "ways/tree/comm_plans.hpp"
#include "ways/way.hpp"

namespace gradcoll {

/// AgentSums runs allreduces in which all ranks hand their vectors to the agents of their hosts;
/// what the agents can no longer do goes over the tree. One thread at a time may use it, and every
/// rank asks and calls in the same order.
class AgentSums final : public Way {
  public:
    explicit AgentSums(const WayParts& parts)
        : settings_(parts.settings), plans_(parts.plans), statistics_(parts.statistics) {}

    const WayInfo& info() const override { return agents_way(); }
    WayOffer foreseen(const WayQuestion& question) const override;
    /// Errors: transport; peer_failed on all ranks if one refuses; those of the plan.
    Status run(const WayCall& call) override;
    void know_tree(const std::shared_ptr<const DiscoveredTree>& tree) override { tree_ = tree; }

  private:
    Result<std::optional<Codec>> codec_of(const CallKey& key);
    Status run_over_tree(const Binding& binding, const CallKey& key);

    const CommSettings& settings_;
    CommPlans& plans_;
    CommStatistics& statistics_;
    std::shared_ptr<const DiscoveredTree> tree_;  ///< the tree that the rest goes over
};

}  // namespace gradcoll
