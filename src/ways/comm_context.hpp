// ways/comm_context.hpp - everything the library keeps for one communicator, part by part.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "comm/comm_devices.hpp"
#include "comm/comm_identity.hpp"
#include "comm/comm_settings.hpp"
#include "observe/comm_statistics.hpp"
#include "observe/measured_error.hpp"
#include "ways/agents/agent_sums.hpp"
#include "ways/codec_use.hpp"
#include "ways/hosts/several_hosts.hpp"
#include "ways/known_way.hpp"
#include "ways/learn/network_learning.hpp"
#include "ways/learn/way_trials.hpp"
#include "ways/one_host/one_host.hpp"
#include "ways/route.hpp"
#include "ways/tree/comm_plans.hpp"

namespace gradcoll {

/// What a rank wants of a new context.
struct SettingsWish {
    SettingsText text;
    Status complaint;             ///< what is wrong with it already
    bool is_environment = false;  ///< nothing else has been said; the same on all ranks
};

/// Shared by the communicator's attribute and by handles and operations that are under way. Thread
/// safe, but collective calls on one communicator must be ordered by the caller, as in MPI.
class CommContext : public std::enable_shared_from_this<CommContext> {
  public:
    /// Collective over `comm`, an intracommunicator. `wish`: this rank's settings. Without a tree:
    /// prepare_tree() makes it, which takes most of the time. Errors, the same on every rank: a
    /// setting that differs across ranks or is not allowed.
    static Result<std::shared_ptr<CommContext>> make(MPI_Comm comm, const SettingsWish& wish);
    /// All that messages over a tree need: the tree, the channel, the devices of peers. Collective
    /// where has_tree() does not hold, which is the same on every rank. Errors, likewise: a tree
    /// that does not fit, those of the channel; the same again if asked again.
    Status prepare_tree();
    /// For whoever keeps the plans of the tree, which would have to do with what is known before
    /// the first call: what else long calls find out little by little is measured now. Collective.
    /// Has a tree. Errors: those of the sources of the tree, transport.
    Status measure_network();
    bool has_tree() const { return tree_ != nullptr; }
    bool tree_failed() const { return !tree_trouble_.ok(); }
    ~CommContext();
    /// How many there are in this process.
    static int live_count();
    CommContext(const CommContext&) = delete;
    CommContext& operator=(const CommContext&) = delete;

    const CommIdentity& identity() const { return identity_; }
    /// The caller has freed it.
    void forget_user_comm() { identity_.forget_user_comm(); }
    const CommSettings& settings() const { return settings_; }
    /// Calls that advance it (gc_step_every) count from here.
    void set_step(std::int64_t step) {
        settings_.set_step(step);
        calls_of_schedule_ = 0;
    }
    /// These, plans and devices only if has_tree().
    const Tree& tree() const { return tree_->tree; }
    /// Kept by whoever goes on planning for this tree, whatever gc_topology becomes.
    std::shared_ptr<const DiscoveredTree> tree_handle() const { return tree_; }
    CommPlans& plans() { return plans_; }
    const CommPlans& plans() const { return plans_; }
    CommDevices& devices() { return devices_; }
    /// Shorter vectors in memory of devices are reduced in the host's, by a copy there.
    std::uint64_t least_device_bytes() const {
        return settings_.current().device_min_bytes.value_or(devices_.least_bytes());
    }
    OneHost& one_host() { return one_host_; }
    const OneHost& one_host() const { return one_host_; }
    SeveralHosts& several_hosts() { return several_hosts_; }
    const SeveralHosts& several_hosts() const { return several_hosts_; }
    AgentSums& agent_sums() { return agent_sums_; }
    const AgentSums& agent_sums() const { return agent_sums_; }
    /// Whether blocking calls between hosts with so many bytes are to be timed.
    bool times(std::uint64_t vector_bytes) const {
        return (learning_.is_on() || trials_.is_on()) && vector_bytes >= least_timed_bytes();
    }
    std::uint64_t least_timed_bytes() const {
        return std::min(WayTrials::least_bytes, settings_.current().long_bytes());
    }
    /// One that was has ended, on this rank with or without an error. Collective now and then: then
    /// the network is measured, and plans are made for what was learnt. `way`: that it went.
    /// Errors: transport; those of find_tree().
    Status add_timed_call(const LongCall& call, TriedWay way);
    /// Plans stay as they are from now on, as something depends on them.
    void keep_plans() {
        if (!learning_.is_on() && !trials_.is_on()) return;
        learning_.stop();
        trials_.stop();
        known_ways_.forget();
    }
    /// The route of a blocking exact allreduce that would go this way: also by the MPI library
    /// where that is tried, or was faster. Every rank asks for its calls in the same order.
    Route tried_route(Route route, const CallShape& shape);
    /// The same as far as it is known; changes nothing.
    Route foreseen_tried_route(Route route, const CallShape& shape) const;
    const WayTrials& trials() const { return trials_; }
    /// Whether trials say where exact calls of that length go. Long ones are not tried until the
    /// tree is settled.
    bool may_go_another_way(std::uint64_t vector_bytes) const {
        return trials_.is_on() && vector_bytes >= least_timed_bytes() &&
               (learning_.is_settled() || vector_bytes < settings_.current().tree_min_bytes);
    }
    KnownWays& known_ways() { return known_ways_; }
    CommStatistics& statistics() { return statistics_; }
    const CommStatistics& statistics() const { return statistics_; }
    ErrorSampling& error_sampling() { return error_sampling_; }
    /// For messages of this rank to itself on the private communicator: as good as unused.
    int next_token_tag() { return static_cast<int>(tokens_++ % 32768U); }

    /// Collective: takes the proposed settings if CommSettings::agree() says so, else changes
    /// nothing. Errors: those of agree(); a tree that does not fit.
    Status change_settings(const SettingsText& proposed, const Status& complaint);

    /// Where a call goes under `settings` (those of the communicator, or of a request). Counts it
    /// if it is compressible, so every rank asks for its calls in the same order, once for each.
    Route route(const Settings& settings, const CallShape& shape, RouteQuestion question);
    /// Those of the plan of the call whose compressed route that is. Pure but for what it
    /// remembers.
    LossParts loss_parts_of(const Settings& settings, const Route& route);
    /// Where the next such call would go; counts nothing.
    Route foreseen_route(const CallShape& shape, RouteQuestion question) const;

  private:
    CommContext(CommIdentity identity, std::shared_ptr<const Tuning> tuning);
    /// Whether the call is one of those that advance the communicator's step.
    bool advances_step(const Settings& settings, const CallShape& shape,
                       const RouteQuestion& question) const;
    /// Why a call that may be compressed, along this route, is exact all the same.
    ExactReason left_out(const Settings& settings, const Route& route,
                         const RouteQuestion& question);
    /// What is compared for that; nothing if there is nothing to compare.
    std::optional<CodecQuestion> codec_question(const Settings& settings, const Route& route,
                                                const RouteQuestion& question) const;
    Status make_tree();
    void suit_settings();
    void forget_choices();
    void begin_learning();
    Status begin_trials();
    bool may_be_tried(const Route& route, const CallShape& shape) const;
    bool is_surely_faster(const Route& route, const CallShape& shape) const;
    Status add_to_trial(const LongCall& call, TriedWay way);
    Status add_to_learning(const LongCall& call);
    Status take_measured();
    Status take_tree(std::shared_ptr<const DiscoveredTree> tree);
    Status take_learnt(Tree tree, const std::string& what);
    const CodecUse& codec_use_of(const CodecQuestion& asked);
    void tell_codec_use(const CodecQuestion& question, const CodecUse& use) const;
    void tell() const;
    void tell_learnt() const;
    Status take_settings(const SettingsText& text, Settings settings);

    // What refers to others comes after them, and ends before them.
    CommIdentity identity_;
    CommStatistics statistics_;
    ErrorSampling error_sampling_;
    CommSettings settings_;
    std::shared_ptr<const DiscoveredTree> tree_;
    Status tree_trouble_;  ///< of prepare_tree()
    CommDevices devices_;
    CommPlans plans_;
    OneHost one_host_;
    SeveralHosts several_hosts_;
    AgentSums agent_sums_;
    KnownWays known_ways_;
    CodecUses codec_uses_;
    NetworkLearning learning_;
    WayTrials trials_;
    std::shared_ptr<const DiscoveredTree> tree_before_;  ///< the one that was measured
    std::atomic<std::uint64_t> compressible_calls_{0};
    std::atomic<std::uint32_t> tokens_{0};
    std::atomic<std::uint64_t> calls_of_schedule_{0};  ///< since the step was set
};

/// The smallest vectors that some communicator of this process has ever taken to its tree or its
/// shared memory, or compared across its ranks. Whoever keeps short calls away from the library has
/// to know.
struct ServedBytes {
    std::uint64_t allreduce = 0;  ///< blocking
    std::uint64_t others = 0;
};
/// Thread safe, as the next two.
ServedBytes least_served_bytes();
/// Calls with vectors of so many bytes and more are served from now on.
void serve_from(const ServedBytes& bytes);
/// `listener` is called after each fall, by whatever thread. One for the process.
void when_served_sizes_fall(void (*listener)());

/// The caller's communicator for Token::Sender; keeps the context.
inline std::shared_ptr<const MPI_Comm> user_comm_of(std::shared_ptr<const CommContext> context) {
    const MPI_Comm* comm = &context->identity().user_comm();
    return {std::move(context), comm};
}

}  // namespace gradcoll
