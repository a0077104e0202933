// runtime/chunk_run.hpp - one chunk under way: which steps still wait, which are ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/chunk_view.hpp"
#include "runtime/device/device_batch.hpp"
#include "runtime/device/mirror.hpp"
#include "runtime/operation.hpp"
#include "runtime/program.hpp"
#include "runtime/trace.hpp"

namespace gradcoll {

/// Steps in the order in which they became ready. Every step is put in once, so the room never
/// needs to wrap.
class ReadyList {
  public:
    void reserve(std::size_t steps) { steps_.resize(steps); }
    void clear() { first_ = end_ = 0; }
    bool empty() const { return first_ == end_; }
    void push(std::uint32_t step) { steps_[end_++] = step; }
    std::uint32_t pop() { return steps_[first_++]; }

  private:
    std::vector<std::uint32_t> steps_;
    std::size_t first_ = 0;
    std::size_t end_ = 0;
};

/// The state of one place in the window of chunks. Used for one chunk after another; allocates only
/// when made. Messages go first: whatever is ready to leave or to be received is started before any
/// local work.
class ChunkRun {
  public:
    struct Room {
        std::size_t steps = 0;
        std::size_t slots = 0;
        bool traced = false;  ///< remember when messages were started
    };
    /// Memory of the chunks; not owned.
    struct Memory {
        std::byte* scratch = nullptr;  ///< of the device, if the data are there
        std::byte* mirror = nullptr;   ///< pinned; only if the data are on a device
        const MirrorLayout* mirror_layout = nullptr;
    };
    /// Room for chunks of these programs. `place` is this run's number in the window; it comes back
    /// in cookies.
    ChunkRun(std::uint32_t place, const Room& room, const Memory& memory);

    void begin(const Program& program, std::int64_t chunk, const Operation& operation);
    bool active() const { return unfinished_ > 0 || settling_ != Settling::done; }
    /// Forgets the chunk. The lane and the device must not use its buffers any more.
    void drop();
    /// Where a device takes part, a chunk whose steps have finished is active until the device has
    /// done them. Errors: those of the device.
    Status settle(Operation& operation);

    /// Starts every message that is ready, but no send that `pacer` (the chunk before, or null) has
    /// yet to end; true if there was one. Errors: those of the lane.
    Result<bool> start_messages(Operation& operation, const ChunkRun* pacer);
    bool has_local() const { return !locals_.empty(); }
    /// Runs the local step that has been ready for longest and returns its number of elements;
    /// has_local() must hold. After a failure steps are counted, but do nothing.
    std::int64_t run_local(Operation& operation);
    /// Gives all local steps that are ready to the batch, or to nobody after a failure;
    /// finish_batched() follows when it has been launched.
    void batch_local(DeviceBatch& batch, const Operation& operation);
    void finish_batched();
    /// Takes note that the message of `step` has completed.
    void finish_message(std::uint32_t step, std::size_t received_bytes, Operation& operation);

    static std::uint32_t place_of(std::uint32_t cookie) { return cookie >> 24; }
    static std::uint32_t step_of(std::uint32_t cookie) { return cookie & 0xffffffU; }

  private:
    const Step& step(std::uint32_t index) const { return program_->schedule().steps[index]; }
    void make_ready(std::uint32_t index);
    void finish(std::uint32_t index);
    bool goes_before(const ChunkRun& later, std::uint32_t send) const;
    Status start_message_of(std::uint32_t index, Operation& operation);
    TraceSpan span_of(const Step& step, std::uint64_t begin_ns, std::uint64_t end_ns,
                      const Operation& operation) const;
    Status run_timed(const Step& step, std::int64_t residual, Operation& operation) const;
    void head_once(const Step& send, const Operation& operation);
    std::byte* mirror_of(std::uint32_t message) const;
    Status start_on_device(std::uint32_t index, std::uint32_t cookie, Operation& operation) const;

    /// How far the device is with a chunk.
    enum class Settling : std::uint8_t { done, running, ending };

    std::uint32_t place_;
    Memory memory_;
    Settling settling_ = Settling::done;
    std::vector<std::uint32_t> waiting_for_;  ///< by step: dependencies that have not completed
    std::vector<std::uint8_t> has_header_;    ///< by slot: the header was written for this chunk
    std::vector<std::uint64_t> begun_ns_;     ///< by step, of messages; empty without a trace
    ReadyList messages_;
    std::vector<std::uint32_t> held_;  ///< sends that are ready but for the chunk before
    ReadyList locals_;
    std::vector<std::uint32_t> batched_;  ///< local steps that a batch has
    const Program* program_ = nullptr;
    ChunkView view_;
    std::int64_t chunk_ = 0;
    int first_tag_ = 0;
    std::size_t unfinished_ = 0;
};

}  // namespace gradcoll
