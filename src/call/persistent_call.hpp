// call/persistent_call.hpp - an allreduce that is set up once and started many times.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <optional>

#include "call/anywhere/grid_run.hpp"
#include "call/call.hpp"
#include "call/device_allreduce.hpp"
#include "call/residual_handle.hpp"
#include "call/tolerance/tolerant_run.hpp"
#include "comm/started_calls.hpp"

namespace gradcoll {

/// PersistentCall is one persistent operation. It is started and completed by one thread at a time,
/// and advanced by any.
class PersistentCall final : public StartedCall {
  public:
    /// Makes the operation from an admitted call; if the call passes, every start does. `number` is
    /// for a request that ranks may start in different orders: then no start of it passes, whatever
    /// its size, the caller advances what is started, and the call must not pass nor be that of a
    /// single rank. Local. Errors: those of planning.
    static Result<std::unique_ptr<PersistentCall>> make(const Call& call, const Settings& settings,
                                                        ChannelNumber number = {});
    ~PersistentCall() override;

    MPI_Comm comm() const;
    CommContext* context() const { return context_.get(); }
    bool is_started() const { return started_; }
    std::uint64_t size_bytes() const { return shape_.size_bytes(); }
    void set_step(std::int64_t step) { step_ = step; }
    /// Returns null if it has none.
    const std::shared_ptr<Residual>& residual() const { return residual_; }
    /// Returns the plan that its layout is of; null if it has none.
    std::shared_ptr<const PlannedCall> residual_plan() const {
        return residual_ != nullptr ? phases_.front().call : nullptr;
    }

    /// Starts the operation, which must not be started already. Never waits for other ranks.
    Outcome start();
    /// Returns whether the operation is complete, also if it is not started. Its outcome is written
    /// to `outcome`, once.
    bool test(Outcome& outcome);

    Turn advance(Mover mover) override;

  private:
    /// Phase is the plan for one codec of the schedule and one device, with an executor that
    /// belongs to this call alone.
    struct Phase {
        std::shared_ptr<PlannedCall> call;
        std::unique_ptr<Executor> executor;
    };

    PersistentCall() = default;
    Status set_up();
    RouteQuestion question_at(std::int64_t step) const;
    Route route_of_start();
    Result<Phase> plan(const CallKey& key, std::shared_ptr<DeviceSide> device) const;
    Result<Phase*> phase_of(const CallKey& key);
    Outcome start_passing(PassReason reason);
    Status prepare(CallKey key, Binding& binding);
    Status start_on_tree(const CallKey& key);
    Status start_at_once(Binding binding);
    Status start_with_look(Binding binding);
    Status start_on_grid(Binding binding);
    Status plan_on_grid();
    bool is_anywhere() const;
    bool is_on_grid() const { return is_anywhere() && shape_.op == ReduceOp::sum; }
    Status reduce_alone_anywhere();
    std::shared_ptr<Verdicts> verdicts() const;
    Result<Progress> go_on();
    void end(const Status& status);

    Entry entry_;
    std::shared_ptr<CommContext> context_;
    std::shared_ptr<const DiscoveredTree> tree_;
    CallArguments arguments_;
    Settings settings_;
    ChannelNumber number_;  ///< no channel: operations are numbered as they start
    CallShape shape_;
    /// It says why every start passes; none: each start decides.
    PassReason pass_reason_ = PassReason::none;
    std::shared_ptr<Residual> residual_;
    std::list<Phase> phases_;  ///< a phase keeps its address while it is running
    /// It is the device of the buffers at the last start; null: the host.
    std::shared_ptr<DeviceSide> device_;
    std::int64_t step_ = 0;
    bool wants_feedback_ = false;

    bool started_ = false;
    bool has_signed_ = false;                     ///< a start has told its signature
    MPI_Request mpi_request_ = MPI_REQUEST_NULL;  ///< the request of a start that passed
    std::optional<HostTwin> twin_;  ///< the call on host memory that runs in place of this one
    DeviceArea twin_room_;
    Phase* running_ = nullptr;  ///< null if only the look is running
    Phase* wide_ = nullptr;     ///< the phase of the same sum in a wider type
    /// It runs before a start that keeps gc_tolerance; the first such start makes it.
    std::optional<Phase> look_;
    TolerantRun tolerant_;
    bool is_tolerant_ = false;  ///< whether the start that is running keeps gc_tolerance
    /// These are of the steps of a sum that is the same anywhere; `running_` adds its words.
    Phase *tops_ = nullptr, *specials_ = nullptr;
    GridRun on_grid_;
    RunStats before_, wide_before_;
    bool is_over_ = false;  ///< whether only the verdict is waited for
    PendingVerdict verdict_;
    Status status_;  ///< how the operation ended; written before complete_ is set
    std::atomic<bool> complete_{true};
};

}  // namespace gradcoll
