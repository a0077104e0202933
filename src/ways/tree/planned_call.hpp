// ways/tree/planned_call.hpp - one shape of call on one communicator, planned: the plan, its
// executors and what it costs.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "report/link_use.hpp"
#include "runtime/device/device_side.hpp"
#include "runtime/executor.hpp"
#include "runtime/scratch_pool.hpp"
#include "ways/tree/call_decision.hpp"

namespace gradcoll {

/// What planning needs to know of a communicator. References must outlive the call.
struct PlanningFacts {
    const Tree& tree;
    int rank = 0;
    Channel& channel;
    bool yield_always = false;
    /// Of all executors of the communicator.
    std::shared_ptr<ScratchPool> scratch = {};
    /// Reads what ranks of this host have on devices; null if none shares any.
    std::shared_ptr<DeviceSide> reader = {};
    bool among_devices = false;  ///< CommDevices::any_in_use()
};

/// Who will use an executor.
struct ExecutorUse {
    /// By an operation that its caller waits in; there is one of those at a time, so that no lock
    /// is needed.
    bool waited = false;
    std::shared_ptr<DeviceSide> data_device = {};  ///< where the data are; null: on the host
    /// Where the device has no room for it, one for data on the host is as good.
    bool host_will_do = false;
};

/// Used by one thread at a time, but for the executors of operations that nobody waits in.
class PlannedCall {
  public:
    /// Plans and makes the first executor. Local: no communication. Errors: internal (a plan that
    /// does not verify; only with gc_check), out_of_memory, and what make_plan says.
    static Result<std::shared_ptr<PlannedCall>> make(const PlanningFacts& facts,
                                                     const Settings& settings, const CallKey& key);

    const CallKey& key() const { return key_; }
    const Plan& plan() const { return *plan_; }
    /// Whether any message is lossy.
    bool lossy() const { return lossy_; }
    /// Static text: who made the plan, if that is not flexreduce.
    const char* other_builder() const { return other_builder_; }
    /// What this rank would send if all codecs were exact.
    std::uint64_t exact_bytes() const { return exact_bytes_; }
    /// Null unless links_wanted().
    const LinkUse* link_use() const { return link_use_.get(); }
    /// Tells residuals of different layouts apart.
    std::uint64_t residual_layout() const { return residual_layout_; }

    /// An executor that nobody else uses; a new one if all are in use.
    Result<std::unique_ptr<Executor>> take_executor(const ExecutorUse& use);
    /// The same `waited` as it was taken with. Otherwise thread safe.
    void give_back(std::unique_ptr<Executor> executor, bool waited);

    std::uint64_t last_use = 0;  ///< for the cache

  private:
    PlannedCall() = default;
    Result<std::unique_ptr<Executor>> make_executor(const ExecutorUse& use) const;
    Result<std::unique_ptr<Executor>> make_executor_on_host() const;

    CallKey key_;
    std::shared_ptr<const Plan> plan_;
    Channel* channel_ = nullptr;
    Executor::Options executor_options_;
    std::unique_ptr<Executor> waited_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Executor>> idle_;  ///< guarded by mutex_
    std::uint64_t exact_bytes_ = 0;
    std::uint64_t residual_layout_ = 0;
    bool lossy_ = false;
    const char* other_builder_ = nullptr;
    std::unique_ptr<const LinkUse> link_use_;
};

}  // namespace gradcoll
