#include "api/comm_context.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "api/boundary.hpp"
#include "api/config_dump.hpp"
#include "base/log.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_cached_calls = 64;

/// Whether this rank should give its core away while it waits. Local: nobody else sees what it
/// does.
bool should_yield(int ranks_on_host) {
    const std::string& wanted = option_text(OptionId::yield);
    if (const auto on = parse_switch(wanted); on.ok()) return *on;
    if (wanted != "auto")
        log(LogLevel::warn, "GC_YIELD={} is not allowed and counts as auto: {}", wanted,
            info_of(OptionId::yield).allowed);
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

Status CommContext::share_name(MPI_Comm comm) {
    char name[MPI_MAX_OBJECT_NAME] = {};
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    GRADCOLL_TRY(from_mpi(PMPI_Bcast(name, sizeof name, MPI_CHAR, 0, private_comm_), "MPI_Bcast"));
    name[sizeof name - 1] = '\0';
    name_ = name;
    return {};
}

Status CommContext::set_up(MPI_Comm comm, const SettingsText& text, const Status& complaint) {
    int world_rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    set_log_rank(world_rank);
    warn_about_settings();
    dump_config_once(world_rank);
    GRADCOLL_TRY(from_mpi(PMPI_Comm_dup(comm, &private_comm_), "MPI_Comm_dup"));
    PMPI_Comm_set_errhandler(private_comm_, MPI_ERRORS_RETURN);
    auto channel = MpiChannel::make(private_comm_);
    if (!channel) return channel.status();
    channel_ = std::move(channel).value();
    GRADCOLL_TRY(change_settings(text, complaint));
    GRADCOLL_TRY(share_name(comm));
    const auto ranks_on_host = count_ranks_on_host(private_comm_);
    if (!ranks_on_host) return ranks_on_host.status();
    yield_always_ = should_yield(*ranks_on_host);
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    const auto have_threads = all_ranks(private_comm_, level == MPI_THREAD_MULTIPLE);
    if (!have_threads) return have_threads.status();
    all_ranks_have_threads_ = *have_threads;
    user_comm_ = comm;
    cache_.reserve(most_cached_calls);
    log(LogLevel::info, "attached communicator '{}' of {} ranks: {} ({})", name_, rank_count(),
        expression_of(tree_->tree), tree_->origin);
    return {};
}

CommContext::~CommContext() {
    cache_.clear();  // executors hold lanes of the channel, which uses the communicator
    channel_.reset();
    if (private_comm_ != MPI_COMM_NULL && mpi_is_running()) PMPI_Comm_free(&private_comm_);
}

Result<Settings> CommContext::agreed_settings(const SettingsText& proposed,
                                              const Status& complaint) const {
    GRADCOLL_TRY(agree_on(private_comm_, claims_of(proposed, complaint)));
    if (!complaint.ok()) return complaint;
    return Settings::parse(proposed);
}

Status CommContext::change_settings(const SettingsText& proposed, const Status& complaint) {
    auto settings = agreed_settings(proposed, complaint);
    if (!settings) return settings.status();
    if (!tree_ || proposed[OptionId::topology] != text_[OptionId::topology]) {
        auto tree = discover_tree(private_comm_, proposed[OptionId::topology]);
        if (!tree) return tree.status();
        tree_ = std::make_shared<const DiscoveredTree>(std::move(tree).value());
    }
    const std::scoped_lock lock(mutex_);
    text_ = proposed;
    settings_ = std::move(settings).value();
    cache_.clear();
    return {};
}

Result<std::shared_ptr<PlannedCall>> CommContext::plan_apart(const Tree& tree,
                                                             const Settings& settings,
                                                             const CallKey& key) {
    return PlannedCall::make({tree, rank(), *channel_, yield_always_}, settings, key);
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

Result<Lease> CommContext::begin(const CallKey& key) {
    const std::scoped_lock lock(mutex_);
    auto call = cached_call(key);
    if (!call) return call.status();
    (*call)->last_use = ++uses_;
    auto executor = (*call)->take_executor();
    if (!executor) return executor.status();
    Lease lease;
    lease.call = std::move(call).value();
    lease.executor = std::move(executor).value();
    lease.before = lease.executor->stats();
    lease.sequence = sequence_++;
    return lease;
}

Route CommContext::route(const Settings& settings, const CallShape& shape, RouteQuestion question) {
    question.comm_may_be_lossy = settings.compress_comms.allows(name_);
    if (is_compressible(settings, shape, question)) {
        const std::scoped_lock lock(mutex_);
        question.call = compressible_calls_++;
    }
    return route_of(settings, shape, question);
}

Route CommContext::foreseen_route(const CallShape& shape, RouteQuestion question) const {
    question.comm_may_be_lossy = settings_.compress_comms.allows(name_);
    {
        const std::scoped_lock lock(mutex_);
        question.call = compressible_calls_;
    }
    return route_of(settings_, shape, question);
}

std::uint32_t CommContext::next_sequence() {
    const std::scoped_lock lock(mutex_);
    return sequence_++;
}

void CommContext::end(Lease lease, const Status& outcome) {
    if (!outcome.ok()) return;
    count_tree_call(*lease.call, lease.before, lease.executor->stats());
    const std::scoped_lock lock(mutex_);
    lease.call->give_back(std::move(lease.executor));
}

void CommContext::count_tree_call(const PlannedCall& call, const RunStats& before,
                                  const RunStats& after) {
    const std::scoped_lock lock(mutex_);
    ++stats_.calls_tree;
    if (call.lossy()) ++stats_.calls_compressed;
    stats_.bytes_reduced += static_cast<std::uint64_t>(call.key().count) * call.key().elem_bytes;
    stats_.bytes_sent += after.bytes_sent - before.bytes_sent;
    stats_.bytes_sent_exact += call.exact_bytes();
    stats_.messages_sent += after.messages_sent - before.messages_sent;
}

void CommContext::count_local_call(std::uint64_t size_bytes) {
    const std::scoped_lock lock(mutex_);
    ++stats_.calls_tree;
    stats_.bytes_reduced += size_bytes;
}

void CommContext::count_passed(const char* reason) {
    const std::scoped_lock lock(mutex_);
    ++stats_.calls_passed;
    stats_.last_pass_reason = reason;
    log(LogLevel::trace, "a call passes to the MPI library: {}", reason);
}

void CommContext::count_time(std::chrono::nanoseconds time) {
    const std::scoped_lock lock(mutex_);
    stats_.nanoseconds += static_cast<std::uint64_t>(time.count());
}

CallStats CommContext::stats() const {
    const std::scoped_lock lock(mutex_);
    return stats_;
}

void CommContext::reset_stats() {
    const std::scoped_lock lock(mutex_);
    stats_ = {};
}

Status CommContext::check_alike(const std::vector<Claim>& claims) const {
    return checks_calls() ? agree_on(private_comm_, claims) : Status();
}

}  // namespace gradcoll
