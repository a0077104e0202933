// runtime/chunk_run.hpp - one chunk under way: its messages and its local steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/chunk_view.hpp"
#include "runtime/device/device_batch.hpp"
#include "runtime/device/device_messages.hpp"
#include "runtime/local_step.hpp"
#include "runtime/operation.hpp"
#include "runtime/packed_messages.hpp"
#include "runtime/program.hpp"
#include "runtime/ready_steps.hpp"
#include "runtime/window_memory.hpp"

namespace gradcoll {

/// ChunkRun is the state of one place in the window of chunks. It is used for one chunk after
/// another and allocates only when it is made. Messages go first: whatever is ready to leave or to
/// be received is started before any local work.
class ChunkRun {
  public:
    struct Room {
        std::size_t steps = 0;
        std::size_t slots = 0;
        std::size_t blocks = 0;  ///< blocks that are encoded at a variable rate
        bool traced = false;     ///< whether to remember when messages were started
        std::size_t runs = 0;    ///< runs of elements that are encoded on their way
    };
    /// `place` is this run's number in the window; it comes back in cookies. `device` is null where
    /// no rank's device takes part.
    ChunkRun(std::uint32_t place, const Room& room, DeviceMessages* device);

    /// Sets the memory for the chunks to come.
    void use(const ChunkMemory& memory) { memory_ = memory; }
    void begin(const Program& program, std::int64_t chunk, const Operation& operation);
    bool active() const { return !ready_.all_finished() || settling_ != Settling::done; }
    /// Forgets the chunk. The lane and the device must not use its buffers any more.
    void drop();
    /// Where a device takes part, a chunk whose steps have finished is active until the device has
    /// done them. Errors: those of the device.
    Status settle(Operation& operation);

    /// Starts every message that is ready, but no send that `pacer` (the chunk before, or null) has
    /// yet to end; true if there was one. Errors: those of the lane.
    Result<bool> start_messages(Operation& operation, const ChunkRun* pacer);
    bool has_local() const { return !ready_.locals().empty(); }
    /// Takes the local step that has been ready for longest, if there is one. After a failure steps
    /// are counted, but do nothing. Each is then run (run_step) and finished.
    bool pick_local(const Operation& operation, LocalStep& out);
    /// Returns whether the step was picked for the chunk that is under way and has not been
    /// finished.
    bool is_due(const LocalStep& local) const {
        return active() && local.chunk == chunk_ && !ready_.has_finished(step_of(local.cookie));
    }
    /// Takes note of how the step went, and of what follows it.
    void finish_local(const LocalStep& local, LocalResult result, Operation& operation);
    /// Gives all local steps that are ready to the batch, or to nobody after a failure;
    /// finish_batched() follows when it has been launched.
    void batch_local(DeviceBatch& batch, const Operation& operation);
    void finish_batched();
    /// Takes note that the message of `step` has completed. A notice ahead of it is followed by the
    /// message itself. Errors: those of the lane.
    Status finish_message(std::uint32_t step, std::size_t received_bytes, Operation& operation);
    /// What came for the receive `step` is not what was sent: the operation fails. finish_message()
    /// follows, as other messages may do after a notice.
    void note_damage(std::uint32_t step, std::size_t received_bytes, Operation& operation) const;
    /// The message that came for the receive `step` was too long for it, and is gone: the operation
    /// fails, but goes on to its end.
    void finish_unfit(std::uint32_t step, Status why, Operation& operation);
    /// The lane has dropped all that was under way: none of it will complete. Follows
    /// start_messages(), on a failed operation.
    void finish_dropped();
    /// Adds the receives that are under way.
    void add_awaited(std::vector<const Step*>& receives) const;

    static std::uint32_t place_of(std::uint32_t cookie) { return cookie >> 24; }
    static std::uint32_t step_of(std::uint32_t cookie) { return cookie & 0xffffffU; }

  private:
    std::uint32_t cookie_of(std::uint32_t index) const { return place_ << 24 | index; }
    const Step& step(std::uint32_t index) const { return program().schedule().steps[index]; }
    const Program& program() const { return ready_.program(); }
    bool has_to_end_before(const ChunkRun& later, std::uint32_t send) const;
    bool is_held(std::uint32_t message, const ChunkRun* pacer) const;
    Status start_message_of(std::uint32_t index, Operation& operation);
    void finish_without_message(std::uint32_t index);
    Status start_without_memory(std::uint32_t index, Operation& operation);
    Status finish_without_memory(std::uint32_t index, std::size_t received_bytes,
                                 Operation& operation);
    std::size_t whole_bytes(const Step& message) const;
    bool is_opening(std::uint32_t message) const;
    bool was_notice(std::uint32_t message, std::size_t received_bytes, Operation& operation);
    void check_was_announced(std::uint32_t recv, Operation& operation) const;
    Status start_coded(std::uint32_t message, Operation& operation);
    std::span<const ElementRun> runs_of(std::uint32_t send, const Operation& operation);
    MessageBytes plain_bytes(std::uint32_t message) const;
    TraceSpan span_of(const Step& message, std::uint64_t begin_ns, std::size_t bytes,
                      const Operation& operation) const;
    void head_once(const Step& send, const Operation& operation);
    void make_ready(std::uint32_t send, Operation& operation);
    MessageBytes moved_bytes(std::uint32_t message) const;
    Result<std::size_t> unpack(std::uint32_t recv, std::size_t received_bytes,
                               Operation& operation);
    void note_packing(const char* name, std::uint32_t message, std::uint64_t begin_ns,
                      Operation& operation) const;
    void check_decoded(std::uint32_t recv, std::size_t received_bytes, Operation& operation);
    void check_arrived(std::uint32_t recv, std::size_t received_bytes, Operation& operation);
    std::byte* mirror_of(std::uint32_t message) const;
    Status start_on_device(std::uint32_t index, std::uint32_t cookie, Operation& operation) const;

    /// Settling says how far the device is with a chunk.
    enum class Settling : std::uint8_t { done, running, ending };

    std::uint32_t place_;
    ChunkMemory memory_;
    DeviceMessages* device_;
    Settling settling_ = Settling::done;
    ReadySteps ready_;
    std::vector<std::uint32_t>
        held_;  ///< sends that wait only for the same send of the chunk before
    std::vector<std::uint32_t> batched_;  ///< local steps that a batch has
    std::vector<std::uint8_t>
        has_header_;  ///< one per slot: whether the header was written for this chunk
    std::vector<std::uint8_t>
        noticed_;  ///< one per step: whether its signature went, or came, ahead
    std::vector<std::uint64_t>
        begun_ns_;  ///< one per step: when a message was started; empty without a trace
    EncodedBlocks blocks_;
    PackedMessages packed_;
    /// If memory is lacking, each step has room here for a signature, which another message
    /// follows.
    std::vector<std::array<std::byte, SignatureNotice::size_bytes>> beginnings_;
    std::vector<ElementRun> runs_;  ///< elements of all sends that are encoded on their way
    ChunkView view_;
    std::int64_t chunk_ = 0;
    int first_tag_ = 0;
};

}  // namespace gradcoll
