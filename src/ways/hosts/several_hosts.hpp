// ways/hosts/several_hosts.hpp - the way of allreduces on a communicator with several ranks on a
// host, and several hosts: up through the memory of each host, between hosts from leader to leader,
// down through memory again.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "comm/comm_settings.hpp"
#include "comm/host_groups.hpp"
#include "mpi/request.hpp"
#include "observe/comm_statistics.hpp"
#include "settings/settings.hpp"
#include "topology/sources/job/discover.hpp"
#include "ways/hosts/hosts_sum.hpp"
#include "ways/tree/comm_plans.hpp"
#include "ways/way.hpp"

namespace gradcoll {

/// BetweenHosts says how the leaders of hosts are connected, and with what settings they plan.
struct BetweenHosts {
    std::shared_ptr<const DiscoveredTree> tree;  ///< tree of the leaders, in the order of their
                                                 ///< ranks
    Settings settings;
    bool has_lossy = false;  ///< whether some exchange of leaders has a lossy codec

    /// Makes it from the tree of all ranks; `leader_of` is that of HostGroups. Pure. Errors: those
    /// of tree_of_leaders().
    static Result<BetweenHosts> make(const DiscoveredTree& tree, const Settings& settings,
                                     const std::vector<int>& leader_of);
};

/// Returns whether the settings leave it to the library how ranks of one host combine their
/// vectors: shared memory is allowed, nobody chose exchanges, builder or chunks, and
/// gc_inside_hosts says memory.
bool allows_memory_inside_hosts(const Settings& settings);
/// Returns whether allows_memory_inside_hosts() holds, and there are several hosts with several
/// ranks on one of them.
bool may_use_memory_of_hosts(const CommIdentity& comm, const Settings& settings);
/// Returns whether the memory of hosts serves vectors of the shape.
bool fits_memory_of_hosts(const CommIdentity& comm, const Settings& settings,
                          const CallShape& shape);

/// SeveralHosts sends short exact vectors between hosts by the MPI library's allreduce of the
/// leaders; long ones (gc_tree_min_bytes) and compressed ones go over the tree of the leaders,
/// piece by piece, so that memory and wire work at the same time. Inside hosts all is exact.
///
/// Every rank asks and calls in the same order. One thread at a time may use it.
class SeveralHosts final : public Way {
  public:
    explicit SeveralHosts(const WayParts& parts);

    const WayInfo& info() const override { return hosts_way(); }
    WayOffer offers(const WayQuestion& question) override;
    WayOffer foreseen(const WayQuestion& question) const override { return takes(question.shape); }
    /// All ranks are told of a refusal. The leader of a host has its own errors, and its host
    /// learns that there is one.
    Status run(const WayCall& call) override;

    /// Gives back all but the groups. `tree` is the communicator's; null: it has none.
    void settings_changed(const std::shared_ptr<const DiscoveredTree>& tree) override;
    /// Tells the tree that the communicator has from now on.
    void know_tree(const std::shared_ptr<const DiscoveredTree>& tree) override;

    /// Returns whether calls will go this way, as far as can be foreseen. Makes nothing.
    bool may_open() const { return may_open_; }
    /// Returns whether calls go this way. The first such question makes the groups and the memory,
    /// and is collective.
    bool open();
    /// Does the same with groups that are not those of the machine, for tests.
    bool open(Result<HostGroups> groups);

    /// Returns which allreduces of the shape are taken now, alike on all ranks.
    WayOffer takes(const CallShape& shape) const;
    /// Returns whether exact vectors are taken whatever their length.
    bool takes_long() const { return between_ != nullptr; }

    /// Returns how leaders are connected; null if that is not known, or of no use.
    const BetweenHosts* between() const { return between_.get(); }
    /// Returns the leaf of that tree which is this rank's host.
    int leaf() const { return leaf_; }

  private:
    struct Vector;
    struct Range {
        std::size_t first = 0;
        std::size_t count = 0;
    };
    /// A Piece is the sum of one piece of a long vector, and on leaders what runs it between hosts.
    struct Piece {
        HostsSum sum;
        Lease lease;
        Range range;
    };
    /// So many pieces of a long vector are on their way between hosts at once.
    static constexpr std::size_t pieces_under_way = 3;

    Status up(const Vector& vector, std::byte* output);
    Status down(const Vector& vector, std::byte* output);
    Status run_by_mpi(const Vector& vector);
    Status lead_by_mpi(const Vector& vector, std::byte* output);
    Status run_over_tree(const Vector& vector, CallRecord& record);
    void begin(Piece& piece, const Vector& vector, const Range& range, Status so_far);
    Status finish(Piece& piece, const Vector& vector, CallRecord& record);
    void end(Piece& piece, CallRecord& record);
    template <class IsThere>
    void drive(Piece& piece, IsThere&& is_there);
    bool advance_messages();
    Status tell_outcome(const Status& mine, bool& lossy);
    Status open_between();
    void count(const Vector& vector, CallRecord& record, std::uint64_t begin_ns);
    void plan_between();
    bool is_leader() const { return groups_->leaders.has_value(); }
    bool is_alone() const { return lane_.memory == nullptr; }

    const CommIdentity& comm_;
    const CommSettings& settings_;
    CommStatistics& statistics_;
    bool may_open_ = false;
    bool is_open_ = false;
    std::optional<HostGroups> groups_;
    int leaf_ = 0;
    HostLane lane_;  ///< all go up and down here, in one order
    std::shared_ptr<const DiscoveredTree> tree_;
    std::unique_ptr<BetweenHosts> between_;
    std::unique_ptr<CommPlans> plans_;  ///< of the leaders' sums; null on ranks that are no leaders
    std::array<Piece, pieces_under_way> pieces_;
    std::vector<std::byte> marked_;  ///< room of lead_by_mpi()
};

}  // namespace gradcoll
