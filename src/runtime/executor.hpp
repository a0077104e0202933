// runtime/executor.hpp - walks a plan: the only place where schedule, codec, channel and user
// memory meet.
#pragma once

#include <memory>
#include <span>

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "runtime/binding.hpp"
#include "runtime/executor_options.hpp"
#include "runtime/local_step.hpp"
#include "runtime/progress.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

/// An Executor runs one plan, again and again; several chunks are in flight at once so that all
/// levels of the tree work at the same time. All memory is taken when it is made, but for scratch
/// memory of the host, which is borrowed for each operation (ExecutorOptions::scratch). It runs one
/// operation at a time and is used by one thread at a time, its owner.
///
/// A caller of advance() or wait() alone has everything done by the owner's thread. Another
/// scheduler takes local steps instead, runs them on what threads it likes, and gives each back;
/// the owner's thread keeps to the messages:
///
///   for (Progress at = idle; at != complete; at = executor.advance_messages())
///       for each step of executor.take_local(steps):   result = run_step(step)   // any thread
///           executor.finish_local(step, result)                                  // the owner's
///
/// An operation that fails while steps are elsewhere ends when all have come back. The destructor
/// waits until those that are elsewhere have run, so whoever takes a step must run it; once the
/// operation has failed or is abandoned that takes no time.
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
    /// Abandons an operation that has not ended, and waits until no step of it is being run.
    ~Executor();

    const Plan& plan() const;
    /// Returns the device that its operations' data are on; null for the host.
    const DeviceSide* data_device() const;
    /// Errors: internal if an operation is running, invalid_buffer for null buffers, invalid_op
    /// without a reducer where one is needed, out_of_memory, transport. Nothing is running after an
    /// error. If the operation's turn (Binding::numbers) has to be waited for, it begins in a later
    /// advance, which then has the last two errors.
    Status start(const Binding& binding);
    /// Does a bounded piece of what can be done now: starts messages, looks for finished ones, runs
    /// one local step. Never blocks. An error is the end of the operation; afterwards (and before
    /// start()) there is nothing to do: complete.
    Result<Progress> advance();
    /// Does the same as advance() except for local steps, which it leaves to whoever takes them.
    /// (If the data are on a device, the device does them, and there are none to take.)
    Result<Progress> advance_messages();
    /// Moves local steps that are ready to the front of `out`, and returns how many. Does not
    /// block, and does not allocate; 0 if nothing is running.
    std::size_t take_local(std::span<LocalStep> out);
    /// Gives back a step that was taken from this executor and has been run, in any order. The
    /// first failure fails the operation. What it sets free leaves with the next advance. Errors:
    /// internal for a step that is not due; nothing happens then.
    Status finish_local(const LocalStep& local, LocalResult result);
    /// Advances until complete, yielding the core when idle. `meanwhile` is what else the thread
    /// does then, and returns whether it did something. Errors: internal while local steps are
    /// elsewhere, which nobody could give back meanwhile; the operation goes on.
    Status wait(bool (*meanwhile)() = nullptr);
    /// Gives the core away after an advance() that did nothing, and sleeps for a short while, if
    /// messages wake it (Lane::rest). Returns whether it has slept.
    bool rest();
    /// Starts the operation and waits for it.
    Status run(const Binding& binding, bool (*meanwhile)() = nullptr);
    const RunStats& stats() const;
    /// Returns the number of the operation that was started last.
    std::uint32_t sequence() const;

  private:
    struct Impl;
    explicit Executor(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace gradcoll
