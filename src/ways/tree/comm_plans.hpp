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

/// A NumberedChannel is a private duplicate of a communicator, and its channel.
class NumberedChannel {
  public:
    /// Collective. Errors: transport.
    static Result<std::unique_ptr<NumberedChannel>> make(const CommIdentity& parent);

    MPI_Comm comm() const { return comm_.handle(); }
    MpiChannel& channel() { return *channel_; }

  private:
    explicit NumberedChannel(PrivateComm comm) : comm_(std::move(comm)) {}

    PrivateComm comm_;
    std::unique_ptr<MpiChannel> channel_;
};

struct ChannelNumber {
    NumberedChannel* channel = nullptr;
    std::uint32_t number = 0;  ///< sequence number of every operation of the request
};

/// NumberedChannels are the channels of one communicator for requests that ranks may start in
/// different orders. Each request has a number of its own, which it is given when it is made. All
/// ranks make their requests in one order. No number is given twice, because ranks free their
/// requests when they like; when those of a channel are used up there is a new channel. All
/// channels stay to the end.
class NumberedChannels {
  public:
    /// Returns the next number, the same on every rank. Collective over `parent`, which must always
    /// be the same one. Errors: transport, unsupported (tags).
    Result<ChannelNumber> next(const CommIdentity& parent);

  private:
    std::vector<std::unique_ptr<NumberedChannel>> channels_;
    std::uint32_t left_ = 0;  ///< how many numbers of the last channel nobody has
    std::uint32_t numbers_of_one_ = 0;
};

/// A Lease is an operation under way: its plan, and an executor of its own.
struct Lease {
    std::shared_ptr<PlannedCall> call;
    std::unique_ptr<Executor> executor;
    RunStats before;
    CallKind kind = CallKind::allreduce;
    bool waited = false;         ///< whether its caller waits for it all the time
    std::uint64_t begin_ns = 0;  ///< time when it began, if calls are observed
};

/// Adds to `record` what an executor has sent, and coded, between these two looks at its
/// statistics.
void add_messages(const RunStats& before, const RunStats& after, CallRecord& record);

/// A TreeCall is an operation on the tree that has ended.
struct TreeCall {
    CallKind kind = CallKind::allreduce;
    bool waited = false;  ///< whether its caller waited for it all the time
    const PlannedCall& planned;
    RunStats before;
    RunStats after;
    std::uint64_t total_ns = 0;      ///< 0: not measured, or nobody waited
    std::uint64_t vector_bytes = 0;  ///< size of what the call is for; 0: of the plan's vector
};
/// Counts the call, and what it put on links if somebody wants to know.
void count_tree_call(CommStatistics& statistics, const TreeCall& call);

/// CommPlans holds the plans of a communicator, their executors and the channels under them.
/// Operations are begun by one thread at a time, in one order on every rank; any thread may end
/// them.
class CommPlans {
  public:
    /// Both must outlive the plans. Operations are counted in `statistics`; if it is null whoever
    /// begins them counts them.
    CommPlans(const CommIdentity& comm, CommStatistics* statistics);

    /// Opens the channel, whose messages go by the transports that the settings allow. Collective.
    /// Errors: those of make_channel().
    Status open_channel(const Settings& settings);
    /// Tells the devices of the communicator, which must outlive the plans.
    void know_devices(const CommDevices& devices) { devices_ = &devices; }
    /// Plans calls for this tree and these settings from now on, and forgets what was planned.
    /// `settings` must outlive the plans.
    void plan_for(std::shared_ptr<const DiscoveredTree> tree, const Settings& settings);

    /// Returns the plan of such calls, from the cache or new, for an operation that begins now. On
    /// an error it gives up the number of the operation.
    Result<std::shared_ptr<PlannedCall>> planned(const CallKey& key);
    /// Begins an operation on the tree, with an executor that an earlier operation has given back,
    /// or a new one. Never waits for other ranks. The caller then starts the operation with
    /// numbers(), or gives its number up: every rank begins its operations in the same order. On an
    /// error the number is given up already.
    Result<Lease> begin(CallKind kind, std::shared_ptr<PlannedCall> call, const ExecutorUse& use);
    Result<Lease> begin(CallKind kind, const CallKey& key, const ExecutorUse& use) {
        auto kept = planned(key);
        return kept ? begin(kind, std::move(kept).value(), use) : kept.status();
    }
    /// Returns the numbers that the bindings of operations take theirs from.
    OperationNumbers& numbers() { return *numbers_; }
    /// Gives up the number of an operation that was begun and that this rank cannot start.
    void give_number_up() { numbers_->take(); }
    /// Starts an operation that was begun and runs it, while the caller waits, to its end(); makes
    /// progress of started persistent requests, too, so that no rank waits for another in vain. The
    /// binding gets its number. Errors: those of the executor.
    Status run(Lease&& lease, Binding binding);
    /// Counts the operation; its executor is used again unless the operation failed.
    void end(Lease lease, const Status& outcome);

    /// Returns a plan that is not cached, for operations with settings of their own. Its messages
    /// go over `channel`; null: the communicator's.
    Result<std::shared_ptr<PlannedCall>> plan_apart(const Tree& tree, const Settings& settings,
                                                    const CallKey& key,
                                                    NumberedChannel* channel = nullptr) const;
    /// Returns a number for a request that ranks may start in different orders. Collective. Errors:
    /// those of NumberedChannels.
    Result<ChannelNumber> next_channel_number() { return numbered_channels_.next(comm_); }
    /// Returns null before open_channel().
    Channel* channel() const { return channel_.get(); }
    int tag_limit() const { return channel_->tag_limit(); }
    /// Returns how many chunks of one operation can be in flight, whatever gc_chunks_in_flight
    /// says.
    int most_chunks_in_flight() const { return most_chunks_in_flight_; }
    /// Returns the scratch memory that all executors of this process share.
    ScratchPool& scratch() const { return *scratch_; }

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
    /// The cache is destroyed before the channel, as its executors hold lanes of it.
    std::vector<std::shared_ptr<PlannedCall>> cache_;
};

}  // namespace gradcoll
