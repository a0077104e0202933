// ways/one_host/host_memory.hpp - the memory that ranks of one host share, and the collectives
// in it, of one communicator at a time (host_memory_pool.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <variant>

#include "base/mpi/mpi.hpp"
#include "collectives/plan/plan.hpp"
#include "comm/comm_identity.hpp"
#include "mpi/request.hpp"
#include "observe/step_trace.hpp"
#include "runtime/one_host/allgather.hpp"
#include "runtime/one_host/allreduce.hpp"
#include "runtime/one_host/bcast.hpp"
#include "runtime/one_host/reduce.hpp"
#include "runtime/one_host/reduce_scatter.hpp"
#include "runtime/progress.hpp"
#include "transport/shm/segment.hpp"

namespace gradcoll {

struct Settings;

/// Returns how the settings have the memory cut, and which way is taken when.
OneHostChoices one_host_choices(int rank_count, const Settings& settings);
/// Returns the size of the largest elements that there is room for then.
std::size_t one_host_element_bytes(int rank_count, const Settings& settings);

/// ReservedMemory is the part that one engine has of the shared memory for blocks that the process
/// allows (GC_SHM_BYTES=process=...).
class ReservedMemory {
  public:
    ReservedMemory() = default;
    ~ReservedMemory();
    ReservedMemory(const ReservedMemory&) = delete;
    ReservedMemory& operator=(const ReservedMemory&) = delete;

    /// Raises the part; returns false, and changes nothing, if the process has not so much. Thread
    /// safe.
    bool raise_to(std::size_t size_bytes);
    /// Lowers the part to `size_bytes`, which is at most what it has.
    void lower_to(std::size_t size_bytes);
    std::size_t size_bytes() const { return size_bytes_; }

  private:
    std::size_t size_bytes_ = 0;
};

/// While a HostMemory waits, messages of the MPI library and operations that are started make
/// progress. It does one call at a time, and all ranks make the same calls in the same order.
/// Errors of calls: invalid_argument, on every rank, if ranks made different ones (more is said at
/// OneHostAllreduce and its kin); out_of_memory, on every rank, if one of them has none left to
/// share.
class HostMemory {
  public:
    /// Makes an engine. Collective over the communicator. Errors, the same on every rank: those of
    /// SharedSegment.
    static Result<std::unique_ptr<HostMemory>> make(const CommIdentity& comm,
                                                    const OneHostChoices& choices);
    HostMemory(const CommIdentity& comm, std::unique_ptr<SharedSegment> segment,
               const OneHostChoices& choices);
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    /// Serves this communicator from now on, whose ranks are those of the first one.
    void serve(const CommIdentity& comm) { private_comm_ = comm.private_comm(); }
    /// Sets another thing that goes on while calls wait; null: nothing any more.
    void go_on_beside(Waiter::Progress beside, void* context) {
        beside_ = beside;
        beside_context_ = context;
    }
    /// Tells the trace, if there is one, that a blocking call of this rank has ended.
    void note_end() {
        if (steps_) steps_->ends();
    }
    /// Returns a number that is the same on ranks that have made the same calls.
    std::uint64_t state() const;

    Status allreduce(const Binding& binding, const CallShape& shape);
    /// Returns those bits that all ranks have set, before a call of that shape.
    Result<std::uint64_t> common_bits(std::uint64_t mine, const CallShape& shape);
    /// Refuses common_bits() on a rank that refuses the call it belongs to: the others'
    /// common_bits() ends with peer_failed.
    void refuse_common_bits(Code reason) {
        (void)run_empty(SegmentGroup::refusal_signature(reason));
    }
    /// Makes progress of MPI, of what has started and of what is beside; returns true if one of the
    /// last two made any.
    bool let_others_go_on() const;
    /// Begins an allreduce that nobody waits for, on all ranks; advance_started() is called until
    /// it is complete or fails, before the next call.
    void start_allreduce(const Binding& binding, const CallShape& shape);
    void start_bcast(void* data, std::size_t size_bytes, int root);
    void start_reduce(const Binding& binding, const CallShape& shape, int root);
    /// Replaces start_allreduce() on a rank that cannot take part: the others' call ends with
    /// peer_failed.
    void start_allreduce_refusal(const CallShape& shape, Code reason);
    /// Replaces start_bcast() on a root that has nothing to give: the others' call ends with
    /// peer_failed.
    void start_bcast_refusal(std::size_t size_bytes, Code reason);
    Result<Progress> advance_started();
    /// Refuses an allreduce of the shape that this rank cannot take part in, or another call in
    /// pieces that begins as one: the others' call ends with peer_failed.
    void refuse(Collective collective, const CallShape& shape, Code reason);
    /// Refuses a broadcast or a reduction in the same way.
    void refuse_bcast(std::size_t size_bytes, Code reason);
    void refuse_reduce(std::size_t size_bytes, Code reason);
    Status barrier();
    /// Runs a broadcast. Only the root's memory is used.
    Status bcast(void* data, std::size_t size_bytes, int root);
    Status reduce(const Binding& binding, const CallShape& shape, int root);
    Status allgather(const Binding& binding, std::size_t block_bytes);
    /// Runs a reduce-scatter. `shape` is that of all blocks together.
    Status reduce_scatter(const Binding& binding, const CallShape& shape);

  private:
    /// Calls whose pieces go through all of the blocks (SegmentGroup::piece_slot) ask for so much.
    static constexpr std::size_t whole_blocks = std::numeric_limits<std::size_t>::max() / 4;

    using Call = std::variant<OneHostCall, OneHostReduceCall, OneHostBcastCall>;

    static OneHostReduceCall reduce_call(const Binding& binding, const CallShape& shape, int root);
    static OneHostBcastCall bcast_call(void* data, std::size_t size_bytes, int root);
    void start(const Call& call, std::size_t growth_bytes);
    Startable& start(const Call& call);
    /// Returns an allreduce of nothing.
    static OneHostCall empty_call(std::uint64_t signature);
    Status run_empty(std::uint64_t signature) { return allreduce_.run(empty_call(signature)); }
    /// Grows blocks, if that is worth it, for a call that moves so many bytes and could use blocks
    /// of `bytes` each.
    Status have_blocks_for(std::size_t moved_bytes, std::size_t bytes) {
        const std::size_t worth = worth_after(moved_bytes, bytes);
        return worth <= served_bytes_ ? Status() : grow_blocks(worth);
    }
    std::size_t worth_after(std::size_t moved_bytes, std::size_t bytes);
    Status grow_blocks(std::size_t bytes);
    /// A Growth is the call in which ranks agree on larger blocks; `wanted` is 0 if there is none.
    struct Growth {
        std::size_t wanted = 0;
        std::uint64_t mine = 0;
        std::uint64_t agreed = 0;
    };
    Growth growth_for(std::size_t bytes);
    static OneHostCall call_of(Growth& growth);
    Status take_growth(const Growth& growth);
    std::size_t useful_block_bytes(std::size_t vector_bytes) const;
    std::size_t grant(std::size_t wanted);
    Status allocate(const SegmentGroup::BlockExtents& extents);
    std::size_t least_bytes() const;
    void let_mpi_go_on() const;
    void let_mpi_catch_up() const;
    static bool go_on(void* engine) { return static_cast<HostMemory*>(engine)->let_others_go_on(); }

    std::unique_ptr<SharedSegment> segment_;
    std::unique_ptr<StepTrace> steps_;  ///< null: there is no trace
    SegmentGroup group_;
    OneHostAllreduce allreduce_;
    OneHostReduce reduce_;
    OneHostBcast bcast_;
    OneHostAllgather allgather_;
    OneHostReduceScatter reduce_scatter_;
    Startable* started_ = nullptr;  ///< the started call that is under way
    Growth growth_;                 ///< growth that goes before the started call, if that wants any
    Call next_call_;                ///< the started call, which follows the growth
    std::size_t moved_bytes_ = 0;   ///< bytes that calls have moved in blocks
    std::size_t granted_bytes_ = 0;  ///< size of the blocks; 0: there are none yet
    std::size_t served_bytes_ = 0;   ///< calls that want blocks of up to so many bytes need not ask
    ReservedMemory reserved_;
    MPI_Comm private_comm_ = MPI_COMM_NULL;
    Waiter::Progress beside_ = nullptr;
    void* beside_context_ = nullptr;
};

}  // namespace gradcoll
