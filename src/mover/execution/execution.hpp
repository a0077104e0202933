// mover/execution/execution.hpp - carries a plan out for one rank: real bytes, on any machine. Two
// threads move them, one each way, while the program computes.
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

/// Of the last step that has ended.
struct ExecutionFigures {
    std::int64_t steps = 0;  ///< that have ended
    std::int64_t moves = 0;
    std::int64_t moved_bytes = 0;                              ///< both ways
    Tick moving = 0;                                           ///< of both streams
    std::int64_t waits_for_tensors = 0, waits_for_memory = 0;  ///< operators that had to wait
    Tick waited_for_tensors = 0, waited_for_memory = 0;
    Tick longest_wait = 0;
    std::int32_t longest_wait_of = -1;  ///< operator
    Tick step = 0;                      ///< from its begin to the end of its last operator
    std::int64_t peak_bytes = 0;        ///< tensors in the device, at once; of all steps

    /// The part of the moves' time that no operator waited for.
    double overlap() const {
        const Tick waited = std::min(waited_for_tensors + waited_for_memory, moving);
        return moving == 0 ? 1 : 1 - static_cast<double>(waited) / static_cast<double>(moving);
    }
};

struct PoolEnd {
    Machine* machine = nullptr;
    void operator()(std::byte* memory) const { machine->release_pool(memory); }
};

/// The program says when operators begin and end, in the plan's order; everything else follows. It
/// is one thread at a time.
class Execution {
  public:
    /// `moves` was checked for `rank` and `room`. Memory of the pool and of tensors that stay and
    /// move is taken, and zero; the others that stay only count, until they are asked for. Errors:
    /// out_of_memory.
    static Result<std::unique_ptr<Execution>> make(
        RankProgram rank, RankMoves moves, const RankRoom& room,
        std::unique_ptr<Machine> machine = plain_machine());
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;

    /// Errors of all: invalid_argument for what is not next.
    Status begin_step();
    /// Waits until its tensors are in the device and there is memory for what it makes: where
    /// times are as planned, not longer than the plan did.
    Status begin_operator(std::int32_t op);
    Status end_operator(std::int32_t op);
    /// Waits for the last moves.
    Status end_step();

    /// Goes on by another plan for the same tensors, between steps; what stays keeps its bytes.
    /// `rank` differs in the times of operators alone. Errors: invalid_argument in a step;
    /// out_of_memory, then it can only be destroyed.
    Status follow(RankProgram rank, RankMoves moves, const RankRoom& room);

    /// Where a tensor is: while an operator that uses it runs; between steps if it stays. One that
    /// stays and does not move takes its memory now, if nobody has asked before.
    Result<std::byte*> tensor(std::int32_t tensor);

    const RankProgram& rank() const { return rank_; }
    const RankMoves& moves() const { return moves_; }
    const Lane& lane() const { return lane_; }
    /// Whether a step by this plan has ended.
    bool has_measured() const { return has_measured_; }
    const ExecutionFigures& figures() const { return figures_; }
    /// Since the last step began; {} of operators that have not run.
    Span measured(std::int32_t op) const { return measured_[static_cast<std::size_t>(op)]; }

  private:
    /// Of a move's tensor: before its TRANSFER, and on its way.
    enum class Where : std::uint8_t { waiting, leaving, host, coming, back };

    using Pool = std::unique_ptr<std::byte, PoolEnd>;

    Execution(RankProgram rank, RankMoves moves, const RankRoom& room,
              std::unique_ptr<Machine> machine);
    Status take_memory();
    Status take_pool();
    Status settle_states(const std::vector<const Move*>& lived, const std::byte* old_pool);
    void find_homes();
    void start_threads();
    Status check_next(std::int32_t op, bool begins) const;
    Status wait_for(std::int32_t op);
    void claim_until(std::int32_t op);
    void claim_after(std::int32_t op);
    void grant();
    void send();
    void fail(Status failure);
    void fetch();
    bool can_send() const;
    bool is_clear(std::int32_t op) const;
    std::byte* in_host(const Move& move) const { return pool_.get() + move.host_offset; }
    const Move* hosted_for(std::int32_t tensor, std::int32_t op) const;
    Status place(std::size_t tensor);
    Status place_zeros(std::size_t tensor);
    Status place_what_moves();
    void remove(std::size_t tensor);
    Tick since_begin() const;

    RankProgram rank_;
    RankMoves moves_;
    MoveOrder order_;
    Lane lane_;
    std::unique_ptr<Machine> machine_;

    std::mutex mutex_;
    std::condition_variable changed_;
    // All below is guarded by mutex_ but for what only the program's thread uses.
    DeviceMemory memory_;
    Pool pool_;
    std::vector<std::byte*> tensors_;         ///< null: not in the device
    std::vector<Where> where_;                ///< of moves
    std::vector<char> granted_;               ///< operators
    std::vector<const Move*> lives_in_host_;  ///< by tensor; null: it does not
    std::deque<Claim> asked_;
    std::deque<std::size_t> fetches_;
    std::size_t next_claim_ = 0;     ///< of order_.claims
    std::size_t next_transfer_ = 0;  ///< of order_.transfers
    std::size_t sent_ = 0, fetched_ = 0;
    std::int64_t free_ = 0;
    std::int32_t ended_ = -1;  ///< operators up to this one
    bool has_measured_ = false;
    bool in_step_ = false, in_operator_ = false, stop_ = false;
    Status failure_;
    std::uint64_t begin_ns_ = 0;
    std::vector<Span> measured_;
    ExecutionFigures figures_, current_;
    std::thread out_, in_;
};

}  // namespace gradcoll::mover
