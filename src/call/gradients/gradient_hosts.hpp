// call/gradients/gradient_hosts.hpp - sums of an engine whose ranks are several on a host, and on
// several hosts: up through the memory of each host, between hosts from leader to leader, down
// through memory again, many at a time.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/host_groups.hpp"
#include "runtime/executor.hpp"
#include "ways/one_host/host_memory_pool.hpp"
#include "ways/one_host/host_turns.hpp"
#include "ways/tree/comm_plans.hpp"
#include "ways/tree/residual.hpp"

namespace gradcoll {

/// GradientHosts is what all such sums of one engine share. All ranks have to make the calls in the
/// memory of a host in the same order, but only the leader knows when the leaders are done with a
/// sum. So sums go up in the order in which they begin, and down in that order, too, each way in
/// memory of its own.
class GradientHosts {
  public:
    /// Makes it. Returns null if all ranks are on one host or each is alone on its own, if the
    /// settings do not allow it, or if there is no memory to share, which is logged. Collective.
    /// Errors: transport.
    static Result<std::unique_ptr<GradientHosts>> make(const CommIdentity& whole,
                                                       const Settings& settings);
    /// Makes it for groups that are not those of the machine, for tests.
    static Result<std::unique_ptr<GradientHosts>> make(const CommIdentity& whole,
                                                       const Settings& settings,
                                                       Result<HostGroups> groups);

    /// Returns the leader of each rank; both are ranks of the whole communicator.
    const std::vector<int>& leader_of() const { return groups_.leader_of; }
    bool is_leader() const { return plans_ != nullptr; }
    /// Returns the plans of the leaders' sums; called on leaders only.
    CommPlans& plans() { return *plans_; }

    /// Lane is one way through the memory of this host: up or down.
    struct Lane {
        PooledHostMemory engine;  ///< null: this rank is alone on its host
        HostTurns turns;
    };
    Lane& up() { return up_; }
    Lane& down() { return down_; }
    bool is_alone() const { return up_.engine == nullptr; }
    /// Gives the memory up for good, as a sum was dropped on its way and may have left it half
    /// used.
    void spoil();

  private:
    explicit GradientHosts(HostGroups groups) : groups_(std::move(groups)) {}
    Status open(const Settings& settings);

    HostGroups groups_;
    std::unique_ptr<CommPlans> plans_;
    Lane up_;
    Lane down_;
};

/// HostsSum runs one sum again and again, on the thread that makes the engine's turns.
class HostsSum {
  public:
    /// `between` runs the leaders' sum; only leaders have it, and it works in place if the host has
    /// several ranks. `residual` keeps what that sum drops; if it is null, this is lost.
    HostsSum(GradientHosts& hosts, std::unique_ptr<Executor> between,
             std::shared_ptr<Residual> residual)
        : hosts_(hosts), between_(std::move(between)), residual_(std::move(residual)) {}

    void start(const Binding& binding, const CallShape& shape);
    /// Advances the sum. Errors: those of the memory and of the executor; peer_failed if only the
    /// leader of the host knows which it was.
    Result<Progress> advance();
    std::size_t take_local(std::span<LocalStep> out);
    void abandon();
    /// Returns the statistics of the leaders' sum; called on leaders only.
    const RunStats& stats() const { return between_->stats(); }

  private:
    enum class Stage : std::uint8_t { up, between, down };

    void note(const Status& status);
    void enter_between();
    Result<Progress> advance_stage();
    Result<Progress> advance_up();
    Result<Progress> advance_between();
    Result<Progress> advance_down();
    Status start_between();

    GradientHosts& hosts_;
    std::unique_ptr<Executor> between_;
    std::shared_ptr<Residual> residual_;
    Binding binding_;
    CallShape shape_;
    std::uint64_t up_turn_ = 0;
    std::uint64_t down_turn_ = 0;
    Stage stage_ = Stage::up;
    bool runs_between_ = false;
    Status outcome_;
};

}  // namespace gradcoll
