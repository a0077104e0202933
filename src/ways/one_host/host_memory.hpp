// ways/one_host/host_memory.hpp - the memory that ranks of one host share, and the collectives
// in it, of one communicator at a time (host_memory_pool.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/call_kind.hpp"
#include "base/mpi/mpi.hpp"
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
/// share; peer_died, on all that wait, if a rank has died.
class HostMemory final : private Awaited {
  public:
    /// Calls of these kinds bring what all ranks have to the root, and what the root has to all.
    static constexpr CallKind up = CallKind::reduce;
    static constexpr CallKind down = CallKind::bcast;

    /// Makes an engine. Collective over the communicator. Errors, the same on every rank: those of
    /// SharedSegment.
    static Result<std::unique_ptr<HostMemory>> make(const CommIdentity& comm,
                                                    const OneHostChoices& choices);
    HostMemory(const CommIdentity& comm, std::unique_ptr<SharedSegment> segment,
               const OneHostChoices& choices);
    /// Returns whether the MPI library was measured to do calls of the kind and length faster. It
    /// copies long vectors once from process to process, its tree of short messages keeps fewer of
    /// many ranks waiting (docs/decisions/018-more-collectives.md), and more than two ranks copy
    /// into caches that are shared.
    static bool is_slower(CallKind kind, const CallShape& shape, int rank_count);
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    /// Serves this communicator from now on, whose ranks are those of the first one.
    void serve(const CommIdentity& comm) {
        private_comm_ = comm.private_comm();
        peers_ = comm.watch();
        in_job_ = comm.world_ranks();
        group_.heed(peers_.get(), this);
    }
    /// Serves no communicator until serve() is called again.
    void serve_nobody() {
        peers_.reset();
        group_.heed(nullptr);
    }
    /// Returns whether a call was given up here, because a rank had died.
    bool is_broken() const { return group_.has_waited_in_vain(); }
    /// Returns whether a rank is known to be dead: then the memory is of no more use.
    bool has_dead_peer() const { return peers_ != nullptr && peers_->has_fault(); }
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

    /// Runs a call of a kind that goes through memory; `shape` is that of the whole vector. Only
    /// the root's buffer is read in a call from_root, and only its output written in one to_root.
    Status run(CallKind kind, const Binding& binding, const CallShape& shape, int root = 0);
    /// Refuses a call that this rank cannot take part in: that of the others, who wait for this
    /// rank, ends with peer_failed.
    void refuse(CallKind kind, const CallShape& shape, Code reason);
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
    /// Begins an allreduce, or a call with a root, that nobody waits for, on all ranks;
    /// advance_started() is called until it is complete or fails, before the next call.
    void start(CallKind kind, const Binding& binding, const CallShape& shape, int root = 0);
    /// Replaces start() on a rank that cannot take part, as refuse() does.
    void start_refusal(CallKind kind, const CallShape& shape, Code reason);
    Result<Progress> advance_started();
    /// Waits, after advance_started() was idle, until the started call can go on.
    void rest();

  private:
    /// Calls whose pieces go through all of the blocks (SegmentGroup::piece_slot) ask for so much.
    static constexpr std::size_t whole_blocks = std::numeric_limits<std::size_t>::max() / 4;

    using Call = std::variant<OneHostCall, OneHostReduceCall, OneHostBcastCall>;

    /// BlockUse says how much a call moves through blocks, and how large ones it could use; none if
    /// it needs no blocks.
    struct BlockUse {
        std::size_t moved_bytes = 0;
        std::size_t bytes = 0;
    };
    BlockUse block_use_of(CallKind kind, const CallShape& shape, bool is_started) const;
    static OneHostBcastCall bcast_call(const Binding& binding, const CallShape& shape, int root);
    OneHostReduceCall reduce_call(const Binding& binding, const CallShape& shape, int root) const;
    Status run_other(CallKind kind, const Binding& binding, const CallShape& shape, int root);
    Status barrier();
    Status allgather(const Binding& binding, const CallShape& shape);
    Status reduce_scatter(const Binding& binding, const CallShape& shape);
    void start(const Call& call, std::size_t growth_bytes);
    Startable& start(const Call& call);
    /// Returns an allreduce of nothing.
    static OneHostCall empty_call(std::uint64_t signature);
    Status run_empty(std::uint64_t signature) {
        return run_waited(allreduce_, empty_call(signature));
    }
    std::string awaited_of(int rank) const override;
    Status death() const { return peers_->fault("in the memory of its host"); }
    /// Runs a call that is waited for.
    template <class Kind, class CallOfKind>
    Status run_waited(Kind& kind, const CallOfKind& call) {
        if (has_dead_peer()) return peers_->fault();
        try {
            return kind.run(call);
        } catch (const WaitedInVain&) {
            return death();
        }
    }
    /// Counts what a call moves, and returns how large blocks are worth it for such a call.
    std::size_t worth_after(const BlockUse& use);
    /// Grows blocks for such a call, if that is worth it.
    Status have_blocks(const BlockUse& use);
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
    std::size_t grant(std::size_t wanted);
    Status allocate(const SegmentGroup::BlockExtents& extents);
    std::size_t least_bytes() const;
    void let_mpi_go_on() const;
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
    std::shared_ptr<PeerWatch> peers_;   ///< null: nobody looks for ranks that have died
    std::vector<int> in_job_;            ///< what ranks are called in their job; empty: not known
    CallKind kind_ = CallKind::barrier;  ///< kind of the last call
    std::uint64_t bytes_ = 0;            ///< size of its vector
    SlowWait slow_;                      ///< the wait of the started call
    bool starts_too_late_ = false;       ///< whether a rank was dead when it was started
    Waiter::Progress beside_ = nullptr;
    void* beside_context_ = nullptr;
};

}  // namespace gradcoll
