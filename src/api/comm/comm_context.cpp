#include "api/comm/comm_context.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "api/comm/comm_tree.hpp"
#include "api/comm/one_host_span.hpp"
#include "api/comm/token.hpp"
#include "api/edge/boundary.hpp"
#include "api/edge/call_memory.hpp"
#include "api/interposed/gate.hpp"
#include "api/observe/observe.hpp"
#include "api/settings/config_dump.hpp"
#include "api/settings/process_tuning.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "topology/text.hpp"
#include "transport/device_ipc/peers_that_share.hpp"
#include "transport/routed/make_host_channel.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_cached_calls = 64;

/// Whether the caller waits in the call.
constexpr bool is_waited(CallKind kind) {
    return kind != CallKind::iallreduce;
}

/// Whether this rank should give its core away while it waits. Local: nobody else sees what it
/// does.
bool should_yield(int ranks_on_host) {
    if (const auto on = parse_switch(option_text(OptionId::yield)); on.ok()) return *on;
    return ranks_on_host > sysconf(_SC_NPROCESSORS_ONLN);
}

Result<int> count_ranks_on_host(MPI_Comm comm) {
    MPI_Comm host = MPI_COMM_NULL;
    GRADCOLL_TRY(from_mpi(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                          "MPI_Comm_split_type"));
    int count = 1;
    PMPI_Comm_size(host, &count);
    PMPI_Comm_free(&host);
    return count;
}

/// The device that the program uses now; null if it uses none.
Device* device_in_use() {
    const DevicePlugin* plugin = Devices::of_process().plugin_if_in_use();
    if (plugin == nullptr) return nullptr;
    const auto current = plugin->device(plugin->current_device());
    return current.ok() ? *current : nullptr;
}

std::string bus_id_of(const Device* device) {
    return device != nullptr ? device->place().bus_id : std::string();
}

/// Without a report nobody reads the errors.
std::uint64_t wanted_error_period() {
    if (!report_is_wanted()) return 0;
    return static_cast<std::uint64_t>(
        parse_integer(option_text(OptionId::report_error), 0, 1'000'000).value());
}

std::vector<Claim> claims_of(const SettingsText& text, const Status& complaint) {
    std::vector<Claim> claims;
    for (const OptionInfo& row : option_table())
        if (!row.info_key.empty()) claims.push_back({row.info_key, text[row.id]});
    const OptionInfo& comms = info_of(OptionId::compress_comms);
    claims.push_back({comms.variable, text[comms.id]});
    claims.push_back({"the outcome of the argument check", complaint.message()});
    return claims;
}

}  // namespace

Result<std::shared_ptr<CommContext>> CommContext::make(MPI_Comm comm, const SettingsText& text,
                                                       const Status& complaint) {
    std::shared_ptr<CommContext> context(new CommContext);
    GRADCOLL_TRY(context->set_up(comm, text, complaint));
    return context;
}

/// What only one rank can decide, so that all do the same.
Status CommContext::share_facts_of_rank_0(MPI_Comm comm) {
    struct {
        char name[MPI_MAX_OBJECT_NAME];
        std::uint64_t error_period;
    } facts = {};
    int length = 0;
    PMPI_Comm_get_name(comm, facts.name, &length);
    facts.error_period = wanted_error_period();
    GRADCOLL_TRY(
        from_mpi(PMPI_Bcast(&facts, sizeof facts, MPI_BYTE, 0, private_comm_), "MPI_Bcast"));
    facts.name[sizeof facts.name - 1] = '\0';
    name_ = facts.name;
    error_period_ = facts.error_period;
    return {};
}

Status CommContext::set_up(MPI_Comm comm, const SettingsText& text, const Status& complaint) {
    int world_rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    set_log_rank(world_rank);
    warn_about_settings();
    dump_config_once(world_rank);
    GRADCOLL_TRY(from_mpi(PMPI_Comm_dup(comm, &private_comm_), "MPI_Comm_dup"));
    GRADCOLL_TRY(return_errors(private_comm_));
    auto channel = MpiChannel::make(private_comm_);
    if (!channel) return channel.status();
    channel_ = std::move(channel).value();
    const auto ranks_on_host = count_ranks_on_host(private_comm_);
    if (!ranks_on_host) return ranks_on_host.status();
    yield_always_ = should_yield(*ranks_on_host);
    is_one_host_ = rank_count() > 1 && *ranks_on_host == rank_count();
    auto tuning = tuning_of_rank_0(private_comm_);
    if (!tuning) return tuning.status();
    tuning_ = std::move(tuning).value();
    GRADCOLL_TRY(change_settings(text, complaint));
    GRADCOLL_TRY(share_memory_with_host());
    GRADCOLL_TRY(share_devices());
    GRADCOLL_TRY(share_facts_of_rank_0(comm));
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    const auto have_threads = all_ranks(private_comm_, level == MPI_THREAD_MULTIPLE);
    if (!have_threads) return have_threads.status();
    all_ranks_have_threads_ = *have_threads;
    user_comm_ = comm;
    observe_as(private_comm_, comm);
    observe_tree(private_comm_, expression_of(tree_->tree), tree_->origin);
    cache_.reserve(most_cached_calls);
    log(LogLevel::info, "attached communicator '{}' of {} ranks: {} ({})", name_, rank_count(),
        expression_of(tree_->tree), tree_->origin);
    return {};
}

/// Messages between ranks of one host go through memory, if the settings give some.
Status CommContext::share_memory_with_host() {
    if (settings_.shm_bytes == 0) return {};
    auto channel =
        make_host_channel(private_comm_, {static_cast<std::size_t>(settings_.shm_bytes)});
    if (!channel) return channel.status();
    channel_ = std::move(channel).value();
    return {};
}

CommContext::~CommContext() {
    host_engine_.reset();
    cache_
        .clear();  // executors hold lanes of the channel, which uses the communicator, and streams
    channel_.reset();
    if (private_comm_ != MPI_COMM_NULL && mpi_is_running()) PMPI_Comm_free(&private_comm_);
}

Result<Settings> CommContext::agreed_settings(const SettingsText& proposed,
                                              const Status& complaint) const {
    GRADCOLL_TRY(agree_on(private_comm_, claims_of(proposed, complaint)));
    if (!complaint.ok()) return complaint;
    auto settings = Settings::parse(proposed);
    if (settings) settings->tuning = tuning_;
    return settings;
}

Status CommContext::change_settings(const SettingsText& proposed, const Status& complaint) {
    auto settings = agreed_settings(proposed, complaint);
    if (!settings) return settings.status();
    if (!tree_ || proposed[OptionId::topology] != text_[OptionId::topology]) {
        auto tree =
            discover_tree(private_comm_, proposed[OptionId::topology], bus_id_of(device_in_use()));
        if (!tree) return tree.status();
        tree_ = std::make_shared<const DiscoveredTree>(std::move(tree).value());
        tell_notes(*tree_, proposed[OptionId::topology], rank());
    }
    text_ = proposed;
    settings_ = std::move(settings).value();
    cache_.clear();
    open_host_way();
    return {};
}

/// The engine is made anew: its size may have changed.
void CommContext::open_host_way() {
    host_engine_.reset();
    leaves_host_way_ = is_one_host_ && leave_host_way(text_, settings_);
    widen_gate_for(settings_, leaves_host_way_);
}

bool CommContext::has_host_way() {
    if (host_engine_ != nullptr || !leaves_host_way_) return leaves_host_way_;
    auto engine =
        HostEngine::make({private_comm_, settings_.shm_bytes, yield_always_, tuning_->shm});
    if (engine) {
        host_engine_ = std::move(engine).value();
        return true;
    }
    leaves_host_way_ = false;
    log(rank() == 0 ? LogLevel::warn : LogLevel::debug,
        "ranks of communicator '{}' cannot share memory and use messages instead: {}", name_,
        engine.status().message());
    return false;
}

Status CommContext::run_on_host(const Binding& binding, const CallShape& shape) {
    const std::uint64_t begin_ns = observing_calls() ? now_ns() : 0;
    {
        const HostSpanFacts facts{*tuning_, rank_count(), binding.input == binding.output,
                                  binding.sequence};
        const HostSpan span(facts, shape);
        GRADCOLL_TRY(host_engine_->allreduce(binding, shape));
    }
    CallRecord record;
    if (begin_ns != 0) record.total_ns = now_ns() - begin_ns;
    record.kind = CallKind::allreduce;
    record.bytes = record.bytes_sent = record.bytes_sent_exact = shape.size_bytes();
    count_served(record);
    return {};
}

PlanningFacts CommContext::planning_facts(const Tree& tree, Channel& channel) const {
    return {tree, rank(), channel, yield_always_, device_reader_};
}

/// Devices that the program uses by now share their memory with the ranks of their host.
Status CommContext::share_devices() {
    shares_devices_.assign(static_cast<std::size_t>(rank_count()), false);
    auto shares = peers_that_share(private_comm_, device_in_use());
    if (!shares) return shares.status();
    shares_devices_ = std::move(shares).value();
    const bool any =
        std::find(shares_devices_.begin(), shares_devices_.end(), true) != shares_devices_.end();
    if (!any) return {};
    const DevicePlugin& plugin = *Devices::of_process().plugin();
    auto side = device_side(plugin, plugin.current_device());
    if (!side) return side.status();
    device_reader_ = std::move(side).value();
    return {};
}

Result<std::shared_ptr<DeviceSide>> CommContext::device_side(const DevicePlugin& plugin,
                                                             int number) {
    for (const auto& side : device_sides_)
        if (side->number() == number) return side;
    auto side = DeviceSide::make(plugin, number, {shares_devices_, mpi_takes_memory_of(plugin)});
    if (!side) return side.status();
    GRADCOLL_TRY((*side)->set_user_stream(user_stream_));
    device_sides_.push_back(*side);
    return side;
}

Status CommContext::set_user_stream(void* native) {
    for (const auto& side : device_sides_) GRADCOLL_TRY(side->set_user_stream(native));
    user_stream_ = native;
    return {};
}

Result<std::shared_ptr<PlannedCall>> CommContext::plan_apart(const Tree& tree,
                                                             const Settings& settings,
                                                             const CallKey& key) {
    return PlannedCall::make(planning_facts(tree, *channel_), settings, key);
}

Result<std::shared_ptr<PlannedCall>> CommContext::plan_numbered(const Tree& tree,
                                                                const Settings& settings,
                                                                const CallKey& key,
                                                                NumberedChannel& channel) {
    return PlannedCall::make(planning_facts(tree, channel.channel()), settings, key);
}

void CommContext::make_room_in_cache() {
    if (cache_.size() < most_cached_calls) return;
    const auto oldest =
        std::min_element(cache_.begin(), cache_.end(),
                         [](const auto& a, const auto& b) { return a->last_use < b->last_use; });
    cache_.erase(oldest);
}

Result<std::shared_ptr<PlannedCall>> CommContext::cached_call(const CallKey& key) {
    for (const auto& call : cache_)
        if (call->key() == key) return call;
    auto call = plan_apart(tree_->tree, settings_, key);
    if (!call) return call.status();
    make_room_in_cache();
    cache_.push_back(*call);
    return call;
}

Result<Lease> CommContext::begin(CallKind kind, const CallKey& key,
                                 const std::shared_ptr<DeviceSide>& data_device) {
    auto call = cached_call(key);
    if (!call) return call.status();
    (*call)->last_use = ++uses_;
    auto executor = (*call)->take_executor({is_waited(kind), data_device});
    if (!executor) return executor.status();
    Lease lease;
    lease.call = std::move(call).value();
    lease.executor = std::move(executor).value();
    lease.before = lease.executor->stats();
    lease.sequence = sequence_++;
    lease.kind = kind;
    lease.begin_ns = now_ns();
    return lease;
}

Route CommContext::route(const Settings& settings, const CallShape& shape, RouteQuestion question) {
    question.comm_may_be_lossy = settings.compress_comms.allows(name_);
    if (is_compressible(settings, shape, question)) {
        question.call = compressible_calls_++;
    }
    return route_of(settings, shape, question);
}

Route CommContext::foreseen_route(const CallShape& shape, RouteQuestion question) const {
    question.comm_may_be_lossy = settings_.compress_comms.allows(name_);
    question.call = compressible_calls_;
    return route_of(settings_, shape, question);
}

bool CommContext::measures_this_call() {
    if (error_period_ == 0) return false;
    return measurable_calls_++ % error_period_ == 0;
}

std::uint32_t CommContext::next_sequence() {
    return sequence_++;
}

void CommContext::end(Lease lease, const Status& outcome) {
    if (!outcome.ok()) return;
    const bool waited = is_waited(lease.kind);
    count_tree_call({lease.kind, *lease.call, lease.before, lease.executor->stats(),
                     waited ? now_ns() - lease.begin_ns : 0});
    lease.call->give_back(std::move(lease.executor), waited);
}

void CommContext::count_tree_call(const TreeCall& call) {
    const CallKey& key = call.planned.key();
    CallRecord record;
    record.kind = call.kind;
    record.bytes = static_cast<std::uint64_t>(key.count) * key.elem_bytes;
    record.lossy = call.planned.lossy();
    record.bytes_sent = call.after.bytes_sent - call.before.bytes_sent;
    record.bytes_sent_exact = call.planned.exact_bytes();
    record.messages_sent = call.after.messages_sent - call.before.messages_sent;
    record.total_ns = call.total_ns;
    record.codec_ns = call.after.codec_ns - call.before.codec_ns;
    record.wire_ns = call.after.wait_ns - call.before.wait_ns;
    count_served(record);
}

void CommContext::count_local_call(CallKind kind, std::uint64_t size_bytes) {
    CallRecord record;
    record.kind = kind;
    record.bytes = size_bytes;
    count_served(record);
}

void CommContext::count_served(const CallRecord& record) {
    observe_call(private_comm_, record);
    stats_.count(record);
}

void CommContext::count_passed(CallKind kind, std::uint64_t size_bytes, const char* reason) {
    count_unattached(private_comm_, kind, size_bytes, reason);
    stats_.count_passed(reason);
}

std::uint64_t observed_bytes(MPI_Count count, MPI_Datatype datatype) {
    MPI_Count size_bytes = 0;
    if (!observing_calls() || PMPI_Type_size_x(datatype, &size_bytes) != MPI_SUCCESS) return 0;
    return static_cast<std::uint64_t>(count * size_bytes);
}

void count_unattached(MPI_Comm comm, CallKind kind, std::uint64_t size_bytes, const char* reason) {
    CallRecord record;
    record.kind = kind;
    record.bytes = size_bytes;
    record.pass_reason = reason;
    observe_call(comm, record);
    log(LogLevel::trace, "a call passes to the MPI library: {}", reason);
}

void CommContext::count_time(std::chrono::nanoseconds time) {
    stats_.count_time(time);
}

CallStats CommContext::stats() const {
    return stats_.read();
}

void CommContext::reset_stats() {
    stats_.reset();
}

Status CommContext::check_alike(const std::vector<Claim>& claims) const {
    return checks_calls() ? agree_on(private_comm_, claims) : Status();
}

}  // namespace gradcoll
