// runtime/one_host/step_watch.hpp - for whoever wants to see the steps of calls in shared memory.
#pragma once

#include <cstdint>

namespace gradcoll {

/// A StepWatch is told by the thread that makes a call, in the order in which things happen. A call
/// begins, and then announces steps and waits for those of others. Calls that are started wait for
/// nobody.
class StepWatch {
  public:
    static constexpr int all_others = -1;

    virtual ~StepWatch() = default;
    virtual void begins() = 0;
    virtual void has_announced(std::uint32_t step) = 0;
    virtual void waits() = 0;
    /// Is called when a wait for a rank, or for all others, has ended.
    virtual void has_waited(int rank, std::uint32_t step) = 0;
};

}  // namespace gradcoll
