// call/persistent_call.hpp - an allreduce that is set up once and started many times.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <optional>

#include "call/call.hpp"
#include "call/device_allreduce.hpp"
#include "call/residual.hpp"
#include "call/tolerance/tolerant_run.hpp"
#include "comm/started_calls.hpp"

namespace gradcoll {

/// One persistent operation. Started and completed by one thread at a time; advanced by any.
class PersistentCall final : public StartedCall {
  public:
    /// `call`: admitted; if it passes, every start does. `number`: for a request that ranks may
    /// start in different orders. No start of it passes, whatever its size, and the caller advances
    /// what is started; the call does not pass, and is not that of a single rank. Local. Errors: of
    /// planning.
    static Result<std::unique_ptr<PersistentCall>> make(const Call& call, const Settings& settings,
                                                        ChannelNumber number = {});
    ~PersistentCall() override;

    MPI_Comm comm() const;
    CommContext* context() const { return context_.get(); }
    bool is_started() const { return started_; }
    std::uint64_t size_bytes() const { return shape_.size_bytes(); }
    void set_step(std::int64_t step) { step_ = step; }
    /// Null if it has none.
    const std::shared_ptr<Residual>& residual() const { return residual_; }

    /// Never waits for other ranks. Must not be started already.
    Outcome start();
    /// True if complete (also if not started); the outcome of the operation is then in `outcome`,
    /// once.
    bool test(Outcome& outcome);

    Turn advance(Mover mover) override;

  private:
    /// The plan for one codec of the schedule, with an executor that belongs to this call alone;
    /// all have the same device.
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

    Entry entry_;
    std::shared_ptr<CommContext> context_;
    std::shared_ptr<const DiscoveredTree> tree_;
    CallArguments arguments_;
    Settings settings_;
    ChannelNumber number_;  ///< no channel: operations are numbered as they start
    CallShape shape_;
    PassReason pass_reason_ = PassReason::none;  ///< of every start; none: each start decides
    std::shared_ptr<Residual> residual_;
    std::list<Phase> phases_;             ///< stay where they are while one is running
    std::shared_ptr<DeviceSide> device_;  ///< of the buffers at the last start; null: the host
    std::int64_t step_ = 0;
    bool wants_feedback_ = false;

    bool started_ = false;
    bool has_signed_ = false;                     ///< a start has told its signature
    MPI_Request mpi_request_ = MPI_REQUEST_NULL;  ///< of a start that passed
    std::optional<HostTwin> twin_;                ///< what passed in place of memory of a device
    DeviceArea twin_room_;
    Phase* running_ = nullptr;   ///< null where only the look is running
    Phase* wide_ = nullptr;      ///< of the same sum in a wider type
    std::optional<Phase> look_;  ///< goes before a start that keeps gc_tolerance; made by the first
    TolerantRun tolerant_;
    bool is_tolerant_ = false;  ///< the start that is running
    RunStats before_, wide_before_;
    Status status_;  ///< of the operation; written before complete_ is set
    std::atomic<bool> complete_{true};
};

}  // namespace gradcoll
