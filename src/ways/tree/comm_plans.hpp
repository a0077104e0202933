// ways/tree/comm_plans.hpp - the planned calls of one communicator: those that are kept for the
// next call of their shape, and operations that are under way.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/comm_devices.hpp"
#include "comm/comm_identity.hpp"
#include "observe/comm_statistics.hpp"
#include "runtime/operation_numbers.hpp"
#include "topology/sources/job/discover.hpp"
#include "transport/mpi/mpi_channel.hpp"
#include "ways/tree/planned_call.hpp"

namespace gradcoll {

/// A private duplicate of a communicator, and its channel.
class NumberedChannel {
  public:
    /// Collective. Errors: transport.
    static Result<std::unique_ptr<NumberedChannel>> make(MPI_Comm parent);

    MPI_Comm comm() const { return comm_.handle(); }
    MpiChannel& channel() { return *channel_; }

  private:
    explicit NumberedChannel(PrivateComm comm) : comm_(std::move(comm)) {}

    PrivateComm comm_;
    std::unique_ptr<MpiChannel> channel_;
};

struct ChannelNumber {
    NumberedChannel* channel = nullptr;
    std::uint32_t number = 0;  ///< the sequence of every operation of the request
};

/// The channels of one communicator for requests that ranks may start in different orders: each has
/// a number of its own, which it is given when it is made. All ranks make their requests in one
/// order. No number is given twice, because ranks free their requests when they like; when those of
/// a channel are used up there is a new channel. All stay to the end.
class NumberedChannels {
  public:
    /// The same on every rank. Collective over `parent`, always the same one. Errors: transport,
    /// unsupported (tags).
    Result<ChannelNumber> next(MPI_Comm parent);

  private:
    std::vector<std::unique_ptr<NumberedChannel>> channels_;
    std::uint32_t left_ = 0;  ///< numbers of the last channel that nobody has
    std::uint32_t numbers_of_one_ = 0;
};

/// An operation under way: its plan, and an executor of its own.
struct Lease {
    std::shared_ptr<PlannedCall> call;
    std::unique_ptr<Executor> executor;
    RunStats before;
    CallKind kind = CallKind::allreduce;
    bool waited = false;         ///< by its caller all the time
    std::uint64_t begin_ns = 0;  ///< if calls are observed
};

/// An operation on the tree that has ended.
struct TreeCall {
    CallKind kind = CallKind::allreduce;
    bool waited = false;  ///< by its caller all the time
    const PlannedCall& planned;
    RunStats before;
    RunStats after;
    std::uint64_t total_ns = 0;  ///< 0: nobody waited
};
/// Counts it.
void count_tree_call(CommStatistics& statistics, const TreeCall& call);

/// Plans, their executors and the channels under them. Operations are begun by one thread at a
/// time, in one order on every rank; any thread may end them.
class CommPlans {
  public:
    /// They must outlive the plans. `statistics`: where operations are counted; null: by whoever
    /// begins them.
    CommPlans(const CommIdentity& comm, CommStatistics* statistics);

    /// Collective. Messages go by the transports that the settings allow. Errors: those of
    /// make_channel().
    Status open_channel(const Settings& settings);
    /// The communicator's, which must outlive the plans.
    void know_devices(const CommDevices& devices) { devices_ = &devices; }
    /// Calls are planned for these from now on; what was planned is forgotten. `settings` must
    /// outlive the plans.
    void plan_for(std::shared_ptr<const DiscoveredTree> tree, const Settings& settings);

    /// The plan of such calls, from the cache or new, for an operation that begins now: an error
    /// gives its number up.
    Result<std::shared_ptr<PlannedCall>> planned(const CallKey& key);
    /// Begins an operation on the tree; its executor is another's before, or new. Never waits for
    /// other ranks. Then it is started, with numbers(), or gives its number up: every rank begins
    /// its operations in the same order. An error gives it up, too.
    Result<Lease> begin(CallKind kind, std::shared_ptr<PlannedCall> call, const ExecutorUse& use);
    Result<Lease> begin(CallKind kind, const CallKey& key, const ExecutorUse& use) {
        auto kept = planned(key);
        return kept ? begin(kind, std::move(kept).value(), use) : kept.status();
    }
    /// What the bindings of operations are given.
    OperationNumbers& numbers() { return *numbers_; }
    /// Of an operation that was begun and that this rank cannot start.
    void give_number_up() { numbers_->take(); }
    /// Starts an operation that was begun and runs it, while the caller waits, to its end(); makes
    /// progress of started persistent requests, too, so that no rank waits for another in vain. The
    /// binding gets its number. Errors: those of the executor.
    Status run(Lease lease, Binding binding);
    /// Counts the operation; its executor is used again unless the operation failed.
    void end(Lease lease, const Status& outcome);

    /// For operations with settings of their own: a plan that is not cached. `channel`: that its
    /// messages go over; null: the communicator's.
    Result<std::shared_ptr<PlannedCall>> plan_apart(const Tree& tree, const Settings& settings,
                                                    const CallKey& key,
                                                    NumberedChannel* channel = nullptr) const;
    /// A number for a request that ranks may start in different orders. Collective. Errors: those
    /// of NumberedChannels.
    Result<ChannelNumber> next_channel_number() {
        return numbered_channels_.next(comm_.private_comm());
    }
    /// Null before open_channel().
    Channel* channel() const { return channel_.get(); }
    int tag_limit() const { return channel_->tag_limit(); }
    /// Of one operation, whatever gc_chunks_in_flight says.
    int most_chunks_in_flight() const { return most_chunks_in_flight_; }
    /// What all executors of this process share.
    const ScratchPool& scratch() const { return *scratch_; }

  private:
    Result<std::shared_ptr<PlannedCall>> cached_call(const CallKey& key);
    void make_room_in_cache();

    const CommIdentity& comm_;
    CommStatistics* statistics_;
    NumberedChannels numbered_channels_;
    std::unique_ptr<Channel> channel_;
    const CommDevices* devices_ = nullptr;  ///< null: none is used
    std::shared_ptr<const DiscoveredTree> tree_;
    const Settings* settings_ = nullptr;
    std::uint64_t uses_ = 0;
    std::unique_ptr<OperationNumbers> numbers_;  ///< made with the channel
    int most_chunks_in_flight_ = max_chunks_in_flight;
    std::shared_ptr<ScratchPool> scratch_;
    /// Goes before the channel: its executors hold lanes of it.
    std::vector<std::shared_ptr<PlannedCall>> cache_;
};

}  // namespace gradcoll
