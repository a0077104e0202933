// runtime/executor.hpp - walks a plan: the only place where schedule, codec, channel and user
// memory meet.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "runtime/binding.hpp"
#include "runtime/executor_options.hpp"
#include "runtime/progress.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

/// Runs one plan, again and again; several chunks are in flight at once so that all levels of the
/// tree work at the same time. All memory is taken when it is made. One operation at a time; used
/// by one thread at a time.
///
/// The result depends on the plan and the data alone, never on the order in which messages arrive.
/// A frame that does not check out, or a codec that refuses its input, fails the operation but not
/// the protocol: the first error is kept, local work stops, and the remaining messages are still
/// exchanged (marked as failed where they are framed), so that other ranks end too. After a
/// transport error nothing more is exchanged. In both cases the output is unspecified, and another
/// operation can be started afterwards.
class Executor {
  public:
    using Options = ExecutorOptions;
    /// `channel` must outlive the executor. Errors: invalid_argument (options; a plan for another
    /// rank or number of ranks than the channel's), unsupported (a codec for the type; one of
    /// variable rate for data on a device; more stages than tags), internal (a plan that
    /// contradicts itself).
    static Result<std::unique_ptr<Executor>> make(std::shared_ptr<const Plan> plan,
                                                  Channel& channel, const Options& options);
    /// Abandons an operation that has not ended.
    ~Executor();

    const Plan& plan() const;
    /// The device that its operations' data are on; null: the host.
    const DeviceSide* data_device() const;
    /// Errors: internal if an operation is running, invalid_buffer for null buffers, invalid_op
    /// without a reducer where one is needed, transport. Nothing is running after an error.
    Status start(const Binding& binding);
    /// Does a bounded piece of what can be done now: starts messages, looks for finished ones, runs
    /// one local step. Never blocks. An error is the end of the operation; afterwards (and before
    /// start()) there is nothing to do: complete.
    Result<Progress> advance();
    /// Advances until complete, yielding the core when idle.
    Status wait();
    /// Start and wait.
    Status run(const Binding& binding);
    const RunStats& stats() const;

  private:
    struct Impl;
    explicit Executor(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace gradcoll
