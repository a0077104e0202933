// ways/agents/agent_sums.hpp - the way of allreduces whose vectors the NIC agents add
// (GC_NIC=on+sum).
#pragma once

#include <optional>

#include "comm/comm_settings.hpp"
#include "compress/codec.hpp"
#include "mpi/request.hpp"
#include "transport/vector_sums.hpp"
#include "ways/tree/comm_plans.hpp"

namespace gradcoll {

/// All ranks hand their vectors to the agents of their hosts; what agents cannot do any more goes
/// over the tree. By one thread at a time; every rank asks and calls in the same order.
class AgentSums {
  public:
    /// The references must outlive it.
    AgentSums(const CommSettings& settings, CommPlans& plans, CommStatistics& statistics)
        : settings_(settings), plans_(plans), statistics_(statistics) {}

    /// Which calls of the shape are taken: exact ones, compressed ones. The same on all ranks.
    struct Takes {
        bool exact = false;
        bool lossy = false;
    };
    Takes takes(const CallShape& shape) const;

    /// Only what it takes. Counts the call. `tree`: that the call would go over. `arguments`:
    /// buffers in host memory. `refusal`: as in a Binding. Errors: transport; peer_failed on all
    /// ranks if one refuses; those of the plan.
    Status allreduce(const Tree& tree, const CallArguments& arguments, const CallShape& shape,
                     const CallKey& key, const Status* refusal = nullptr);

  private:
    Result<std::optional<Codec>> codec_of(const Tree& tree, const CallKey& key);
    Status run_over_tree(const Binding& binding, const CallKey& key);

    const CommSettings& settings_;
    CommPlans& plans_;
    CommStatistics& statistics_;
};

}  // namespace gradcoll
