// api/comm/comm_context.hpp - everything the library keeps for one communicator.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/comm/agreement.hpp"
#include "api/comm/numbered_channels.hpp"
#include "api/comm/one_host.hpp"
#include "api/comm/planned_call.hpp"
#include "api/comm/route.hpp"
#include "api/observe/comm_statistics.hpp"
#include "api/settings/settings.hpp"
#include "base/mpi/mpi.hpp"
#include "report/report.hpp"
#include "topology/sources/job/discover.hpp"
#include "transport/mpi/mpi_channel.hpp"

namespace gradcoll {

/// An operation under way: its plan, an executor of its own, and its number.
struct Lease {
    std::shared_ptr<PlannedCall> call;
    std::unique_ptr<Executor> executor;
    RunStats before;
    std::uint32_t sequence = 0;
    CallKind kind = CallKind::allreduce;
    std::uint64_t begin_ns = 0;
};

/// An operation on the tree that has ended, for the statistics.
struct TreeCall {
    CallKind kind = CallKind::allreduce;
    const PlannedCall& planned;
    RunStats before;
    RunStats after;
    std::uint64_t total_ns = 0;  ///< 0: nobody waited for it all the time
};

/// Owns a private duplicate of the communicator, the tree, the settings, the plans and the
/// statistics. Shared by the communicator's attribute and by handles and operations that are under
/// way. Thread safe, but collective calls on one communicator must be ordered by the caller, as in
/// MPI.
class CommContext {
  public:
    /// Collective over `comm`, an intracommunicator. `text`: this rank's settings; `complaint`:
    /// what is wrong with them already. Errors, the same on every rank: a setting that differs
    /// across ranks or is not allowed, a tree that does not fit.
    static Result<std::shared_ptr<CommContext>> make(MPI_Comm comm, const SettingsText& text,
                                                     const Status& complaint);
    ~CommContext();
    CommContext(const CommContext&) = delete;
    CommContext& operator=(const CommContext&) = delete;

    /// The caller's communicator; MPI_COMM_NULL once it has been freed.
    MPI_Comm user_comm() const { return user_comm_; }
    void forget_user_comm() { user_comm_ = MPI_COMM_NULL; }
    MPI_Comm private_comm() const { return private_comm_; }
    /// Whether MPI_THREAD_MULTIPLE holds on every rank.
    bool all_ranks_have_threads() const { return all_ranks_have_threads_; }
    int rank() const { return channel_->rank(); }
    int tag_limit() const { return channel_->tag_limit(); }
    int rank_count() const { return channel_->rank_count(); }
    /// As rank 0 had it when the communicator was attached: names belong to a rank, and
    /// GC_COMPRESS_COMMS must mean the same on all.
    const std::string& name() const { return name_; }

    const Settings& settings() const { return settings_; }
    const SettingsText& settings_text() const { return text_; }
    const Tree& tree() const { return tree_->tree; }
    /// Kept by whoever goes on planning for this tree, whatever gc_topology becomes.
    std::shared_ptr<const DiscoveredTree> tree_handle() const { return tree_; }
    std::int64_t step() const { return step_; }
    void set_step(std::int64_t step) { step_ = step; }

    /// Collective: takes the proposed settings if all ranks propose the same and they are allowed,
    /// else changes nothing. `complaint`: what this rank found wrong with its arguments already
    /// (empty: nothing); then all ranks fail.
    Status change_settings(const SettingsText& proposed, const Status& complaint);
    /// The same check for settings that hold for one request only.
    Result<Settings> agreed_settings(const SettingsText& proposed, const Status& complaint) const;

    /// Whether exact allreduces that are waited for go through the memory of the host. The first
    /// such question makes it, if the settings leave that way open, and is collective; so every
    /// rank asks in the same order.
    bool has_host_way();
    /// The same without making anything: whether the next such call will, as far as can be
    /// foreseen.
    bool leaves_host_way() const { return leaves_host_way_; }
    /// Only if has_host_way(). Errors: those of the engine.
    Status run_on_host(const Binding& binding, const CallShape& shape);

    /// Where a call goes under `settings` (those of the communicator, or of a request). Counts it
    /// if it is compressible, so every rank asks for its calls in the same order, once for each.
    Route route(const Settings& settings, const CallShape& shape, RouteQuestion question);
    /// Where the next such call would go; counts nothing.
    Route foreseen_route(const CallShape& shape, RouteQuestion question) const;

    /// A device as the operations of this communicator use it. Local. Errors: those of DeviceSide.
    Result<std::shared_ptr<DeviceSide>> device_side(const DevicePlugin& plugin, int number);
    /// What later operations on devices begin after: DeviceSide::set_user_stream. Local.
    Status set_user_stream(void* native);

    /// Whether the error of this compressed blocking allreduce is to be measured (GC_REPORT_ERROR
    /// as rank 0 has it). Every rank asks once for each.
    bool measures_this_call();

    /// Begins an operation on the tree: takes a number, and a plan and an executor from the cache,
    /// or new ones. Every rank begins its operations in the same order. Never waits for other
    /// ranks.
    /// `data_device`: where the data are; null: on the host.
    Result<Lease> begin(CallKind kind, const CallKey& key,
                        const std::shared_ptr<DeviceSide>& data_device = nullptr);
    /// Counts the operation; its executor is used again unless the operation failed.
    void end(Lease lease, const Status& outcome);

    /// For operations with settings of their own: a plan that is not cached, and the parts of
    /// begin() and end().
    Result<std::shared_ptr<PlannedCall>> plan_apart(const Tree& tree, const Settings& settings,
                                                    const CallKey& key);
    std::uint32_t next_sequence();
    /// The same for requests that ranks may start in different orders: a number for the request
    /// (collective), and plans whose messages go over its channel.
    Result<ChannelNumber> next_channel_number() { return numbered_channels_.next(private_comm_); }
    Result<std::shared_ptr<PlannedCall>> plan_numbered(const Tree& tree, const Settings& settings,
                                                       const CallKey& key,
                                                       NumberedChannel& channel);
    void count_tree_call(const TreeCall& call);
    void count_local_call(CallKind kind, std::uint64_t size_bytes);
    void count_passed(CallKind kind, std::uint64_t size_bytes, const char* reason);
    void count_time(std::chrono::nanoseconds time);

    CallStats stats() const;
    void reset_stats();

    /// With gc_check=collective: fails on all ranks if their claims differ. Collective then, else
    /// nothing.
    Status check_alike(const std::vector<Claim>& claims) const;
    bool checks_calls() const { return settings_.check == CheckLevel::collective; }

  private:
    CommContext() = default;
    Status set_up(MPI_Comm comm, const SettingsText& text, const Status& complaint);
    Status share_facts_of_rank_0(MPI_Comm comm);
    void count_served(const CallRecord& record);
    Result<std::shared_ptr<PlannedCall>> cached_call(const CallKey& key);
    void make_room_in_cache();
    void open_host_way();
    Status share_memory_with_host();
    Status share_devices();
    PlanningFacts planning_facts(const Tree& tree, Channel& channel) const;

    MPI_Comm user_comm_ = MPI_COMM_NULL;
    MPI_Comm private_comm_ = MPI_COMM_NULL;
    std::unique_ptr<Channel> channel_;
    NumberedChannels numbered_channels_;
    std::shared_ptr<const DiscoveredTree> tree_;
    std::shared_ptr<const Tuning> tuning_;
    SettingsText text_;
    Settings settings_;
    std::string name_;
    std::uint64_t error_period_ = 0;  ///< 0: errors are never measured
    std::int64_t step_ = 0;
    bool yield_always_ = false;
    bool all_ranks_have_threads_ = false;
    bool is_one_host_ = false;      ///< all ranks are on this one
    bool leaves_host_way_ = false;  ///< that, and the settings say nothing else
    std::unique_ptr<HostEngine> host_engine_;
    std::vector<bool> shares_devices_;  ///< by rank: its devices' memory is read in place
    std::vector<std::shared_ptr<DeviceSide>> device_sides_;  ///< those in use
    std::shared_ptr<DeviceSide> device_reader_;  ///< of ranks whose own data are on the host
    void* user_stream_ = nullptr;

    std::vector<std::shared_ptr<PlannedCall>> cache_;
    std::uint64_t uses_ = 0;
    std::uint32_t sequence_ = 0;
    std::atomic<std::uint64_t> compressible_calls_{0};
    std::uint64_t measurable_calls_ = 0;
    CallCounters stats_;
};

/// Bytes of so many elements of a valid datatype, if calls are observed; else 0.
std::uint64_t observed_bytes(MPI_Count count, MPI_Datatype datatype);
/// A call on a communicator that is not attached (never null) passes to the MPI library.
void count_unattached(MPI_Comm comm, CallKind kind, std::uint64_t size_bytes, const char* reason);

/// Adds the time of its life to the statistics.
class CallTimer {
  public:
    explicit CallTimer(CommContext& context) : context_(context) {}
    ~CallTimer() { context_.count_time(std::chrono::steady_clock::now() - start_); }
    CallTimer(const CallTimer&) = delete;
    CallTimer& operator=(const CallTimer&) = delete;

  private:
    CommContext& context_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace gradcoll
