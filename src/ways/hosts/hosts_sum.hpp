// ways/hosts/hosts_sum.hpp - one sum of ranks that are several on a host, and on several hosts: up
// through the memory of each host, between hosts from leader to leader, down through memory again.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/executor.hpp"
#include "ways/one_host/host_memory_pool.hpp"
#include "ways/one_host/host_turns.hpp"

namespace gradcoll {

/// A HostLane is memory of this host, in which sums take turns. All ranks of the host give these
/// turns in the same order.
struct HostLane {
    PooledHostMemory memory;  ///< null: this rank is alone on its host
    HostTurns turns;
};

/// HostLanes say where the sums of a rank go up and down. That may be one lane, if all ranks of the
/// host know when a sum comes down.
struct HostLanes {
    HostLane* up = nullptr;
    HostLane* down = nullptr;
    bool is_leader = false;  ///< whether this rank talks to other hosts for its own

    bool are_of_one_rank() const { return up->memory == nullptr; }
};

/// HostsSum runs one sum again and again, on one thread. A caller that never waits advances it
/// beside others; one that waits calls HostMemory::rest() where the sum is idle in_memory().
class HostsSum {
  public:
    /// A Call points to what stays until the sum is over.
    struct Call {
        HostLanes lanes = {};
        Binding binding = {};  ///< its numbers and residual are those of the leaders' sum
        CallShape shape = {};
        /// The leader gives this to the ranks of its host in place of the sum, if it is not empty.
        std::span<std::byte> given = {};
        /// This runs the leaders' sum, in place if the host has several ranks. It is null on other
        /// ranks, and on a leader that cannot take part, whose `so_far` says why.
        Executor* between = nullptr;
        Status so_far = {};         ///< an error: other hosts are told, and the sum ends with it
        bool leaves_steps = false;  ///< whether others run the executor's local steps
    };
    /// Starts the sum, and gives its turn to go up. All leaders start their sums in one order, the
    /// order in which sums go up: so if nothing has to go up, the leaders' sum is started here.
    void start(const Call& call);
    /// Gives the turn to come down. All ranks of the host do so after start(), at the same point.
    void come_down();

    /// Advances the sum. Whatever fails, this rank goes through all stages, as others wait for it
    /// there. Errors: outcome().
    Result<Progress> advance();
    std::size_t take_local(std::span<LocalStep> out);

    bool goes_up() const { return stage_ == Stage::up; }
    bool is_between() const { return stage_ == Stage::between; }
    bool is_over() const { return stage_ == Stage::over; }
    /// Returns whether it waits for ranks of this host.
    bool in_memory() const { return stage_ == Stage::up || stage_ == Stage::down; }
    /// Returns the first error so far: of the memory, of the executor, or peer_failed if only the
    /// leader of the host knows which it was.
    const Status& outcome() const { return outcome_; }

  private:
    enum class Stage : std::uint8_t { over, up, between, down };

    void note(const Status& status);
    void enter_between();
    Result<Progress> advance_stage();
    Result<Progress> advance_up();
    Result<Progress> advance_between();
    Result<Progress> advance_down();

    Call call_;
    std::uint64_t up_turn_ = 0;
    std::uint64_t down_turn_ = 0;
    Stage stage_ = Stage::over;
    bool comes_down_ = false;
    bool runs_between_ = false;
    Status outcome_;
};

}  // namespace gradcoll
