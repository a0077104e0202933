// ways/hosts/several_hosts.hpp - the way of allreduces on a communicator with several ranks on a
// host, and several hosts: up through the memory of each host, between hosts from leader to leader,
// down through memory again.
#pragma once

#include <memory>
#include <optional>

#include "comm/comm_settings.hpp"
#include "comm/host_groups.hpp"
#include "mpi/request.hpp"
#include "observe/comm_statistics.hpp"
#include "ways/hosts/between_hosts.hpp"
#include "ways/hosts/leaders_exchange.hpp"
#include "ways/one_host/engine_pool.hpp"

namespace gradcoll {

/// Whether the settings leave it to the library how ranks of one host combine theirs: shared memory
/// is allowed, nobody chose exchanges, builder or chunks, and gc_inside_hosts says memory.
bool allows_memory_inside_hosts(const Settings& settings);
/// ... and there are several ranks on a host, and several hosts.
bool may_use_memory_of_hosts(const CommIdentity& comm, const Settings& settings);
/// Whether that memory serves vectors of the shape.
bool fits_memory_of_hosts(const CommIdentity& comm, const Settings& settings,
                          const CallShape& shape);

/// Short exact vectors go between hosts by the MPI library's allreduce of the leaders; long ones
/// (gc_tree_min_bytes) and compressed ones over the tree of the leaders, piece by piece, so that
/// memory and wire work at the same time. Inside hosts all is exact.
///
/// Every rank asks and calls in the same order. By one thread at a time.
class SeveralHosts {
  public:
    /// The references must outlive it.
    SeveralHosts(const CommIdentity& comm, const CommSettings& settings,
                 CommStatistics& statistics);

    /// All but the groups is given back. `tree`: of the communicator; null: it has none.
    void settings_changed(std::shared_ptr<const DiscoveredTree> tree);
    /// From now on it has one.
    void know_tree(std::shared_ptr<const DiscoveredTree> tree);

    /// Whether calls will go this way, as far as can be foreseen. Makes nothing.
    bool may_open() const { return may_open_; }
    /// Whether they do. The first such question makes the groups and the memory, and is collective.
    bool open();
    /// The same with groups that are not those of the machine, for tests.
    bool open(Result<HostGroups> groups);

    /// Which calls of the shape are taken, if open(): exact ones, compressed ones. The same on all
    /// ranks.
    struct Takes {
        bool exact = false;
        bool lossy = false;
    };
    Takes takes(const CallShape& shape) const;
    /// Whether exact vectors are taken whatever their length.
    bool takes_long() const { return between_ != nullptr; }

    /// Only what it takes. Counts the call. `arguments`: buffers in host memory. `tolerance` and
    /// `refusal`: as in a Binding; nobody is told of a refusal where the MPI library is between
    /// hosts. Errors: those of the ways; the leader of a host has its own, and its host learns that
    /// there is one.
    Status allreduce(const CallArguments& arguments, const CallShape& shape, const CallKey& key,
                     double tolerance = 0, const Status* refusal = nullptr);

    /// Null: not known, or not of use.
    const BetweenHosts* between() const { return between_.get(); }
    /// This rank's host, as a leaf of that tree.
    int leaf() const { return leaf_; }

  private:
    struct Vector;
    Status up(const Vector& vector, std::size_t first, std::size_t count);
    Status down(const Vector& vector, std::size_t first, std::size_t count);
    Status run_by_mpi(const Vector& vector);
    Status run_over_tree(const Vector& vector);
    void begin_between(const Vector& vector, std::size_t first, std::size_t count,
                       const Status& so_far);
    Status tell_outcome(const Status& mine, bool& lossy);
    Status open_between();
    void count(const Vector& vector, const LeadersTraffic& before, bool lossy,
               std::uint64_t begin_ns);
    void plan_between();
    bool is_leader() const { return groups_->leaders.has_value(); }

    const CommIdentity& comm_;
    const CommSettings& settings_;
    CommStatistics& statistics_;
    bool may_open_ = false;
    bool is_open_ = false;
    std::optional<HostGroups> groups_;
    int leaf_ = 0;
    PooledEngine engine_;  ///< null: this rank is alone on its host
    std::shared_ptr<const DiscoveredTree> tree_;
    std::unique_ptr<BetweenHosts> between_;
    std::unique_ptr<LeadersExchange> leaders_;  ///< on leaders alone
};

}  // namespace gradcoll
