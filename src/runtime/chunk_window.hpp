// runtime/chunk_window.hpp - the chunks of the running operation that are in flight, and a turn of
// work for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "collectives/plan/plan.hpp"
#include "runtime/chunk_run.hpp"
#include "runtime/device/device_batch.hpp"
#include "runtime/device/device_messages.hpp"
#include "runtime/executor_options.hpp"
#include "runtime/local_step.hpp"
#include "runtime/operation.hpp"
#include "runtime/outcome_rounds.hpp"
#include "runtime/program.hpp"
#include "runtime/window_memory.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

/// Chunk c begins when chunk c - window has ended: its place is free, and messages of one tag keep
/// their order. Allocates only when it is made; its pool of scratch memory may, when an operation
/// begins.
class ChunkWindow {
  public:
    /// `channel` must outlive the window. Errors: unsupported and internal as Executor::make,
    /// out_of_memory, those of Device.
    static Result<std::unique_ptr<ChunkWindow>> make(std::shared_ptr<const Plan> plan,
                                                     Channel& channel,
                                                     const ExecutorOptions& options);

    const Plan& plan() const { return *parts_.plan; }
    Operation& operation() { return operation_; }
    /// Borrows what an operation needs. Errors: out_of_memory.
    Status borrow() { return parts_.memory.borrow(); }
    /// Returns whether an operation that gets no memory can tell other ranks that it fails.
    bool can_do_without() const { return !messages_ && !parts_.in_short_pieces; }
    /// Returns the memory to the pool: the operation has ended, and nobody uses it any more.
    void give_back() { parts_.memory.give_back(); }
    /// Starts the operation, which has its binding and was borrowed for, with its first chunks.
    /// Errors: transport errors only; then it is to be dropped.
    Status begin();
    /// Does a bounded piece of what can be done now; true if there was anything. Errors: those of
    /// begin().
    Result<bool> turn(LocalWork local);
    bool complete() const { return has_moved_all() && (!outcome_ || outcome_->is_over()); }
    /// Stops waiting for what has not come by now, in an operation that has failed. What is left to
    /// be said to others is sent in later turns. Must not be called where a device takes part.
    void give_up();
    /// Returns what the operation waits for, for people: "level 1, from rank 3". `name` returns
    /// what a rank is called.
    std::string waits_at(const std::function<int(int rank)>& name) const;
    /// Forgets the operation and its messages. Steps that were taken may still be running.
    void drop();

    // Local steps that are run elsewhere. Those of a device's data never are.
    /// Moves ready steps to the front of `out`, those of older chunks first, and returns how many.
    std::size_t take_local(std::span<LocalStep> out);
    /// Errors: internal for a step that was not taken, or came back before.
    Status finish_local(const LocalStep& local, LocalResult result);
    /// Returns how many steps were taken and are not finished.
    std::size_t taken() const { return taken_count_; }
    /// Waits until nobody runs a step.
    void wait_for_taken() const { taken_.wait(); }

  private:
    /// Parts holds what is made once for the plan.
    struct Parts {
        std::shared_ptr<const Plan> plan;
        Program body, tail;
        std::size_t places = 0;  ///< how many chunks have a place
        bool in_short_pieces =
            false;  ///< whether some messages go in short pieces or are encoded on their way
        WindowMemory memory;
        std::unique_ptr<Lane> lane = {};
        std::unique_ptr<const PackersInUse> packers = {};
        const char* agents = nullptr;  ///< RunStats::agents

        // These return the most that a chunk has of each.
        std::size_t steps() const;
        std::size_t messages() const;
        std::size_t slots() const;
        std::size_t blocks() const;
        std::size_t runs() const;
    };
    static Result<Parts> parts_for(std::shared_ptr<const Plan> plan, Channel& channel,
                                   const ExecutorOptions& options, const TagLayout& tags);

    ChunkWindow(Parts parts, const Operation& operation, const ExecutorOptions& options);
    Status join_device(const Channel& channel, bool data_on_device);
    void make_runs();
    void give_memory_to_runs();

    bool has_moved_all() const { return oldest_chunk_ >= plan().chunk_count; }
    const Program& program_of(std::int64_t chunk) const {
        return &plan().schedule_of(chunk) == &plan().tail ? parts_.tail : parts_.body;
    }
    ChunkRun& run_of(std::int64_t chunk) {
        return runs_[static_cast<std::size_t>(chunk) % runs_.size()];
    }
    /// Returns the chunk whose sends go before those of `chunk`, or null.
    const ChunkRun* pacer_of(std::int64_t chunk) {
        return paced_ && chunk > oldest_chunk_ ? &run_of(chunk - 1) : nullptr;
    }
    void begin_chunks();
    /// Does what a device has yet to do for chunks whose steps have finished.
    Status settle_chunks();
    void retire_chunks();
    Result<bool> start_messages();
    Result<bool> take_completions();
    Result<bool> work(LocalWork local);
    Result<bool> run_local();
    Result<bool> run_local_on_device();

    Parts parts_;
    Operation operation_;
    bool paced_;
    std::shared_ptr<DeviceSide> side_;  ///< null where no rank's device takes part
    std::unique_ptr<DeviceMessages>
        messages_;  ///< null where no rank's device takes part: then the lane has all messages
    std::unique_ptr<DeviceBatch> batch_;    ///< null for data of the host
    std::optional<OutcomeRounds> outcome_;  ///< of checked operations
    std::vector<ChunkRun> runs_;  ///< one for each place: chunk c is at c modulo their number
    std::vector<Completion> completions_;
    /// Chunks from the oldest to the next have begun, and the oldest has not ended.
    std::int64_t oldest_chunk_ = 0;
    std::int64_t next_chunk_ = 0;
    TakenSteps taken_;
    std::size_t taken_count_ = 0;
};

}  // namespace gradcoll
