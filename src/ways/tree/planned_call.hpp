// ways/tree/planned_call.hpp - one shape of call on one communicator, planned: the plan, its
// executors and what it costs.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "report/link_use.hpp"
#include "runtime/device/device_side.hpp"
#include "runtime/executor.hpp"
#include "runtime/scratch_pool.hpp"
#include "ways/tree/call_decision.hpp"

namespace gradcoll {

/// PlanningFacts holds what planning needs to know of a communicator. References must outlive the
/// call.
struct PlanningFacts {
    const Tree& tree;
    int rank = 0;
    Channel& channel;
    bool yield_always = false;
    /// All executors of the communicator take their scratch memory from this pool.
    std::shared_ptr<ScratchPool> scratch = {};
    std::shared_ptr<PeerWatch> peers = {};  ///< as in ExecutorOptions, like the next
    std::span<const int> in_job = {};
    /// Reads what ranks of this host have on devices; null if none shares any.
    std::shared_ptr<DeviceSide> reader = {};
    bool among_devices = false;  ///< CommDevices::any_in_use()
};

/// ExecutorUse says who will use an executor.
struct ExecutorUse {
    /// This is set if the caller waits in the operation. There is one of those at a time, so that
    /// no lock is needed.
    bool waited = false;
    std::shared_ptr<DeviceSide> data_device = {};  ///< device that has the data; null: the host has
                                                   ///< them
    /// If this is set, an executor for data on the host will do where none can be made on the
    /// device.
    bool host_will_do = false;
};

/// A PlannedCall is used by one thread at a time, but for the executors of operations that nobody
/// waits in.
class PlannedCall {
  public:
    /// Plans the call. Local: no communication. Errors: internal (a plan that does not verify; only
    /// with gc_check), out_of_memory, those of make_plan().
    static Result<std::shared_ptr<PlannedCall>> make(const PlanningFacts& facts,
                                                     const Settings& settings, const CallKey& key);

    const CallKey& key() const { return key_; }
    const Plan& plan() const { return *plan_; }
    /// Returns whether any message is lossy.
    bool lossy() const { return lossy_; }
    /// Returns who made the plan, as static text; null if it was flexreduce.
    const char* other_builder() const { return other_builder_; }
    /// Returns how many bytes this rank would send if all codecs were exact.
    std::uint64_t exact_bytes() const { return exact_bytes_; }
    /// Returns what the call puts on links; null unless links_wanted().
    const LinkUse* link_use() const { return link_use_.get(); }
    /// Returns a hash that tells residuals of different layouts apart.
    std::uint64_t residual_layout() const { return residual_layout_; }

    /// Returns an executor that nobody else uses; makes a new one if all are in use.
    Result<std::unique_ptr<Executor>> take_executor(const ExecutorUse& use);
    /// Takes an executor back. `waited` must be what it was taken with; if it is false this is
    /// thread safe.
    void give_back(std::unique_ptr<Executor> executor, bool waited);

    std::uint64_t last_use = 0;  ///< number of the last use, by which the cache finds the oldest
                                 ///< call

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
