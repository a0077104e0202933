// mover/execution/execution.hpp - carries a plan out for one rank, with real bytes, on any machine.
// Two threads move them, one for each direction, while the program computes.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "base/status.hpp"
#include "mover/execution/device_memory.hpp"
#include "mover/execution/move_order.hpp"

namespace gradcoll::mover {

/// ExecutionFigures describes the last step that has ended.
struct ExecutionFigures {
    std::int64_t steps = 0;  ///< steps that have ended
    std::int64_t moves = 0;
    std::int64_t moved_bytes = 0;  ///< both ways together
    Tick moving = 0;               ///< time of the moves, both streams together
    std::int64_t waits_for_tensors = 0, waits_for_memory = 0;  ///< operators that had to wait
    Tick waited_for_tensors = 0, waited_for_memory = 0;
    Tick longest_wait = 0;
    std::int32_t longest_wait_of = -1;  ///< the operator that waited longest; -1: none
    Tick step = 0;                      ///< from the step's begin to the end of its last operator
    std::int64_t peak_bytes =
        0;  ///< the most that tensors took in the device at once, over all steps

    /// Returns the part of the moves' time that no operator waited for, 0 to 1.
    double overlap() const {
        const Tick waited = std::min(waited_for_tensors + waited_for_memory, moving);
        return moving == 0 ? 1 : 1 - static_cast<double>(waited) / static_cast<double>(moving);
    }
};

struct PoolEnd {
    Machine* machine = nullptr;
    void operator()(std::byte* memory) const { machine->release_pool(memory); }
};

/// Execution carries out a plan: the program says when operators begin and end, in the plan's
/// order, and the moves follow, from step to step: what goes home as a step ends may still be under
/// way in the next one. Only one thread at a time may call it.
class Execution {
  public:
    /// `moves` was checked for `rank` and `room`, in steps of `step_ticks`. The memory of the pool,
    /// and of tensors that stay and move, is allocated and set to zero; tensors that do not move
    /// are only counted until they are asked for, so that a program may keep them where they are.
    /// Errors: out_of_memory.
    static Result<std::unique_ptr<Execution>> make(
        RankProgram rank, RankMoves moves, Tick step_ticks, const RankRoom& room,
        std::unique_ptr<Machine> machine = plain_machine());
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    /// The calls for steps and operators return invalid_argument for an operator that is not next.
    Status begin_step();
    /// Waits until the operator's tensors are in the device and there is memory for those it makes.
    /// If times are as planned, it waits no longer than the plan did.
    Status begin_operator(std::int32_t op);
    Status end_operator(std::int32_t op);
    /// What lives in the host may be on its way home afterwards.
    Status end_step();

    /// Switches to another plan for the same tensors, between steps; tensors that stay keep their
    /// bytes. Waits for moves under way. `rank` differs only in the times of operators. Errors:
    /// invalid_argument during a step; out_of_memory, after which the execution can only be
    /// destroyed.
    Status follow(RankProgram rank, RankMoves moves, Tick step_ticks, const RankRoom& room);

    /// Returns where a tensor is: while an operator that uses it runs; between steps if it stays,
    /// when moves under way have ended. A tensor that does not move gets its memory at the first
    /// call.
    Result<std::byte*> tensor(std::int32_t tensor);

    /// Returns where a tensor is, while its last operator runs. The caller frees that memory from
    /// now on; it counts as the tensor's until the operator has ended. Errors: those of tensor();
    /// unsupported on devices.
    Result<std::byte*> take_over(std::int32_t tensor);

    /// Returns whether the plan moves the tensor.
    bool moves_tensor(std::int32_t tensor) const { return is_moved_[index_of(tensor)] != 0; }

    const RankProgram& rank() const { return rank_; }
    const RankMoves& moves() const { return moves_; }
    const Lane& lane() const { return lane_; }
    /// Returns whether a step by this plan has ended.
    bool has_measured() const { return has_measured_; }
    ExecutionFigures figures() const {
        const std::scoped_lock lock(mutex_);
        return figures_;
    }
    /// Returns when an operator ran, since the last step began; {} if it has not run.
    Span measured(std::int32_t op) const { return measured_[static_cast<std::size_t>(op)]; }

  private:
    /// Trips counts how often a move's tensor has left and come back. In the n-th step by a plan it
    /// leaves for the n-th time; one that lives in the host has left once before the first step.
    struct Trips {
        std::int64_t left = 0, back = 0;
    };
    /// A Trip is a TRANSFER or PREFETCH that starts in step number `step`.
    struct Trip {
        std::size_t move = 0;
        std::int64_t step = 0;
    };
    struct Asked {
        Claim claim;
        std::int64_t step = 0;
    };

    using Pool = std::unique_ptr<std::byte, PoolEnd>;

    Execution(RankProgram rank, RankMoves moves, Tick step_ticks, const RankRoom& room,
              std::unique_ptr<Machine> machine);
    Status take_memory();
    Status take_pool();
    Status settle_states(const std::vector<const Move*>& lived, const std::byte* old_pool);
    void find_moved();
    Status place_made(std::size_t tensor);
    void start_threads();
    void wake_movers();
    Status check_next(std::int32_t op, bool begins) const;
    Status wait_for(std::int32_t op);
    void claim_until(std::int32_t op);
    void claim_after(std::int32_t op);
    void ask(const Claim& claim);
    void grant();
    void begin_plan();
    ExecutionFigures& count(const Trip& trip, Tick took);
    bool is_idle() const;
    Status drain(std::unique_lock<std::mutex>& lock);
    Status send_home();
    bool is_in_host(std::size_t move) const { return trips_[move].left > trips_[move].back; }
    void send();
    void fail(Status failure);
    void fetch();
    bool can_send() const;
    bool can_fetch() const;
    bool is_clear(std::int32_t op) const;
    std::byte* in_host(const Move& move) const { return pool_.get() + move.host_offset; }
    const Move* hosted_for(std::int32_t tensor, std::int32_t op) const;
    Status place(std::size_t tensor);
    Status place_counted(std::size_t tensor);
    Status place_zeros(std::size_t tensor);
    Status place_what_moves();
    void remove(std::size_t tensor);
    Tick since_begin() const;

    RankProgram rank_;
    RankMoves moves_;
    MoveOrder order_;
    Lane lane_;
    std::unique_ptr<Machine> machine_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // mutex_ guards all members below, except those that only the program's thread uses.
    DeviceMemory memory_;
    Pool pool_;
    std::vector<std::byte*> tensors_;         ///< by tensor; null: not in the device
    std::vector<Trips> trips_;                ///< by move
    std::vector<char> granted_;               ///< by operator: whether it has its memory
    std::vector<const Move*> lives_in_host_;  ///< by tensor; null: it does not live in the host
    std::vector<char> is_moved_;              ///< by tensor
    std::deque<Asked> asked_;
    std::deque<Trip> sends_, fetches_;
    std::size_t under_way_ = 0;            ///< moves that have started and not ended
    std::size_t next_claim_ = 0;           ///< index in order_.claims
    std::int64_t step_ = 0;                ///< the number of the step by this plan, from 1 on
    std::int64_t sent_ = 0, fetched_ = 0;  ///< by this plan, and all of a step before the first
    std::int64_t free_ = 0;
    std::int32_t ended_ = -1;  ///< the last operator that has ended
    bool has_measured_ = false;
    bool in_step_ = false, in_operator_ = false, stop_ = false;
    bool draining_ = false;  ///< the program waits until nothing is under way
    Status failure_;
    std::uint64_t begin_ns_ = 0;
    std::vector<Span> measured_;
    ExecutionFigures figures_, current_;
    std::thread out_, in_;
};

}  // namespace gradcoll::mover
