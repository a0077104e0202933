#include "ways/tree/comm_plans.hpp"

#include <algorithm>
#include <mutex>

#include "base/clock.hpp"
#include "base/spare_room.hpp"
#include "comm/started_calls.hpp"
#include "runtime/tags.hpp"
#include "transport/routed/make_channel.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_cached_calls = 64;

/// Returns the pool of all communicators, whose operations mostly follow one another as well. It
/// lives as long as one of them uses it.
std::shared_ptr<ScratchPool> shared_scratch() {
    static std::mutex mutex;
    static std::weak_ptr<ScratchPool> shared;
    const std::scoped_lock lock(mutex);
    auto pool = shared.lock();
    if (pool == nullptr) shared = pool = std::make_shared<ScratchPool>();
    return pool;
}

}  // namespace

Result<std::unique_ptr<NumberedChannel>> NumberedChannel::make(const CommIdentity& parent) {
    auto comm = PrivateComm::make(parent.private_comm());
    if (!comm) return comm.status();
    std::unique_ptr<NumberedChannel> made(new NumberedChannel(std::move(comm).value()));
    GRADCOLL_TRY(take(made->channel_, MpiChannel::make(made->comm(), parent.watch())));
    return made;
}

Result<ChannelNumber> NumberedChannels::next(const CommIdentity& parent) {
    if (left_ == 0) {
        auto channel = NumberedChannel::make(parent);
        if (!channel) return channel.status();
        const auto tags = TagLayout::make((*channel)->channel().tag_limit(), 1);
        if (!tags) return tags.status();
        channels_.push_back(std::move(channel).value());
        left_ = numbers_of_one_ = tags->sequence_count();
    }
    return ChannelNumber{channels_.back().get(), numbers_of_one_ - left_--};
}

void add_messages(const RunStats& before, const RunStats& after, CallRecord& record) {
    record.bytes_sent += after.bytes_sent - before.bytes_sent;
    record.packed_away_bytes += after.packed_away_bytes - before.packed_away_bytes;
    record.messages_sent += after.messages_sent - before.messages_sent;
    record.codec_ns += after.codec_ns - before.codec_ns;
    if (after.agents != nullptr) record.agents = after.agents;
}

namespace {

CallTraffic traffic_of(const TreeCall& call) {
    const CallKey& key = call.planned.key();
    const std::uint64_t planned_bytes = static_cast<std::uint64_t>(key.count) * key.elem_bytes;
    return {.bytes = call.vector_bytes != 0 ? call.vector_bytes : planned_bytes,
            .bytes_sent = call.after.bytes_sent - call.before.bytes_sent,
            .bytes_sent_exact = call.planned.exact_bytes(),
            .messages_sent = call.after.messages_sent - call.before.messages_sent,
            .lossy = call.planned.lossy(),
            .agents = call.after.agents};
}

CallRecord record_of(const TreeCall& call) {
    const CallTraffic traffic = traffic_of(call);
    CallRecord record;
    record.kind = call.kind;
    record.bytes = traffic.bytes;
    record.lossy = traffic.lossy;
    record.builder = call.planned.other_builder();
    record.bytes_sent_exact = traffic.bytes_sent_exact;
    add_messages(call.before, call.after, record);
    record.total_ns = call.total_ns;
    record.wire_ns = call.after.wait_ns - call.before.wait_ns;
    return record;
}

}  // namespace

void count_tree_call(CommStatistics& statistics, const TreeCall& call) {
    if (statistics.is_observed())
        statistics.count_served(record_of(call));
    else
        statistics.count_served(call.waited, traffic_of(call));
    if (const LinkUse* use = call.planned.link_use()) statistics.count_link_use(*use);
}

CommPlans::CommPlans(const CommIdentity& comm, CommStatistics* statistics)
    : comm_(comm), statistics_(statistics), scratch_(shared_scratch()) {
    cache_.reserve(most_cached_calls);
}

Status CommPlans::open_channel(const Settings& settings) {
    ChannelOptions options;
    options.cells_bytes = static_cast<std::size_t>(settings.shm_bytes);
    options.transports = settings.transports;
    options.nic = settings.nic;
    options.peers = comm_.watch();
    GRADCOLL_TRY(take(channel_, make_channel(comm_.private_comm(), options)));
    const auto tags = TagLayout::make(channel_->tag_limit(), 1);
    if (!tags) return tags.status();
    numbers_ = std::make_unique<OperationNumbers>(*tags);
    most_chunks_in_flight_ = tags->chunk_count();
    return {};
}

void CommPlans::plan_for(std::shared_ptr<const DiscoveredTree> tree, const Settings& settings) {
    tree_ = std::move(tree);
    settings_ = &settings;
    if (cache_.empty()) return;
    cache_.clear();
    scratch_->trim();
}

Result<std::shared_ptr<PlannedCall>> CommPlans::plan_apart(const Tree& tree,
                                                           const Settings& settings,
                                                           const CallKey& key,
                                                           NumberedChannel* channel) const {
    Channel& over = channel != nullptr ? channel->channel() : *channel_;
    PlanningFacts facts{tree, comm_.rank(), over, comm_.yields(), scratch_, comm_.watch()};
    facts.in_job = comm_.world_ranks();
    if (devices_ != nullptr) {
        facts.reader = devices_->reader();
        facts.among_devices = devices_->any_in_use();
    }
    // Planning goes deep, where a thread of the program may have little stack left.
    Result<std::shared_ptr<PlannedCall>> call = std::shared_ptr<PlannedCall>();
    run_with_room_on_stack([&] { call = PlannedCall::make(facts, settings, key); });
    return call;
}

void CommPlans::make_room_in_cache() {
    if (cache_.size() < most_cached_calls) return;
    const auto oldest =
        std::min_element(cache_.begin(), cache_.end(),
                         [](const auto& a, const auto& b) { return a->last_use < b->last_use; });
    cache_.erase(oldest);
}

Result<std::shared_ptr<PlannedCall>> CommPlans::cached_call(const CallKey& key) {
    for (const auto& call : cache_)
        if (call->key() == key) return call;
    auto call = plan_apart(tree_->tree, *settings_, key);
    if (!call) return call.status();
    make_room_in_cache();
    cache_.push_back(*call);
    return call;
}

Result<std::shared_ptr<PlannedCall>> CommPlans::planned(const CallKey& key) {
    auto call = cached_call(key);
    if (!call) give_number_up();
    return call;
}

Result<Lease> CommPlans::begin(CallKind kind, std::shared_ptr<PlannedCall> call,
                               const ExecutorUse& use) {
    Lease lease;
    lease.call = std::move(call);
    lease.call->last_use = ++uses_;
    if (const Status status = take(lease.executor, lease.call->take_executor(use)); !status.ok()) {
        give_number_up();
        return status;
    }
    lease.before = lease.executor->stats();
    lease.kind = kind;
    lease.waited = use.waited;
    lease.begin_ns = statistics_ != nullptr && statistics_->is_observed() ? now_ns() : 0;
    return lease;
}

Status CommPlans::run(Lease&& lease, Binding binding) {
    binding.numbers = numbers_.get();
    const Status status = lease.executor->run(binding, [] { return advance_started_calls(); });
    end(std::move(lease), status);
    return status;
}

void CommPlans::end(Lease lease, const Status& outcome) {
    if (!outcome.ok()) return;
    if (statistics_ != nullptr)
        count_tree_call(
            *statistics_,
            {lease.kind, lease.waited, *lease.call, lease.before, lease.executor->stats(),
             lease.waited && lease.begin_ns != 0 ? now_ns() - lease.begin_ns : 0});
    lease.call->give_back(std::move(lease.executor), lease.waited);
}

}  // namespace gradcoll
