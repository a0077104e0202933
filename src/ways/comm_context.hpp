// ways/comm_context.hpp - everything the library keeps for one communicator, part by part.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "comm/comm_devices.hpp"
#include "comm/comm_identity.hpp"
#include "comm/comm_settings.hpp"
#include "comm/verdicts.hpp"
#include "observe/comm_statistics.hpp"
#include "observe/measured_error.hpp"
#include "ways/call_cache.hpp"
#include "ways/codec_use.hpp"
#include "ways/hosts/several_hosts.hpp"
#include "ways/learn/network_learning.hpp"
#include "ways/learn/way_trials.hpp"
#include "ways/one_host/one_host.hpp"
#include "ways/route.hpp"
#include "ways/tree/comm_plans.hpp"
#include "ways/way.hpp"

namespace gradcoll {

/// SettingsWish holds what a rank asks for when it makes a context.
struct SettingsWish {
    SettingsText text;
    Status complaint;             ///< what is already known to be wrong with it
    bool is_environment = false;  ///< whether the text is the environment's alone; the same on all
                                  ///< ranks
};

/// A CommContext is shared by the communicator's attribute and by handles and operations that are
/// under way. Thread safe, but collective calls on one communicator must be ordered by the caller,
/// as in MPI.
class CommContext : public std::enable_shared_from_this<CommContext> {
  public:
    /// Makes the context of `comm`, an intracommunicator, with this rank's settings, `wish`. It has
    /// no tree yet: prepare_tree() makes it, which takes most of the time. `own` is as in
    /// CommIdentity::make(). Collective over `comm`.
    /// Errors, the same on every rank: a setting that differs across ranks or is not allowed.
    static Result<std::shared_ptr<CommContext>> make(MPI_Comm comm, const SettingsWish& wish,
                                                     PrivateComm own = {});
    /// Makes all that messages over a tree need: the tree, the channel, the devices of peers.
    /// Collective where has_tree() does not hold, which is the same on every rank. Errors,
    /// likewise: a tree that does not fit, those of the channel; the same again if asked again.
    Status prepare_tree();
    /// Measures now what long calls find out little by little, for up to some seconds; a second
    /// time it does nothing. There must be a tree. Collective. Errors: those of the sources of the
    /// tree, transport.
    Status measure_network();
    /// Measures the network, and keeps plans as they are from then on, as something depends on
    /// them: only other settings change them. Collective. Errors: those of measure_network().
    Status keep_plans();
    bool has_tree() const { return tree_ != nullptr; }
    bool tree_failed() const { return !tree_trouble_.ok(); }
    ~CommContext();
    /// Returns how many contexts there are in this process.
    static int live_count();
    CommContext(const CommContext&) = delete;
    CommContext& operator=(const CommContext&) = delete;

    const CommIdentity& identity() const { return identity_; }
    /// Forgets the user's communicator, which its owner has freed.
    void forget_user_comm() { identity_.forget_user_comm(); }
    const CommSettings& settings() const { return settings_; }
    /// Sets the step of the settings' schedule. Calls that advance it (every= in gc_codec) count
    /// from here.
    void set_step(std::int64_t step) {
        settings_.set_step(step);
        calls_of_schedule_ = 0;
    }
    /// Returns the tree. This, tree_handle(), plans() and devices() are for use only if has_tree().
    const Tree& tree() const { return tree_->tree; }
    /// Returns the tree for a caller that goes on planning for it, whatever gc_topology becomes.
    std::shared_ptr<const DiscoveredTree> tree_handle() const { return tree_; }
    /// Returns null unless survivors agree on sums (gc_fault=survive), which they cannot
    /// everywhere.
    const std::shared_ptr<Verdicts>& verdicts() const { return verdicts_; }
    /// Lets the ranks that still make calls on the communicator know that this one makes none.
    void leave() const {
        if (verdicts_ != nullptr) verdicts_->close();
    }
    CommPlans& plans() { return plans_; }
    const CommPlans& plans() const { return plans_; }
    CommDevices& devices() { return devices_; }
    /// Returns the size from which on devices reduce vectors in their memory. Shorter ones are
    /// reduced in the host's, by a copy there.
    std::uint64_t least_device_bytes() const {
        return settings_.current().device_min_bytes.value_or(devices_.least_bytes());
    }
    /// Returns this communicator's way of a row of the table.
    Way& way(const WayInfo& info) const;
    OneHost& one_host() const { return one_host_; }
    SeveralHosts& several_hosts() const { return several_hosts_; }
    /// Asks all ways what they offer for a call. Collective if the call is blocking.
    WayOffers offers(const WayQuestion& question);
    /// Returns what they would offer, as far as that can be foreseen. Makes nothing.
    WayOffers foreseen_offers(const WayQuestion& question) const;
    /// Returns whether blocking calls between hosts with so many bytes are to be timed.
    bool times(std::uint64_t vector_bytes) const {
        return (learning_.is_on() || trials_.is_on()) && vector_bytes >= least_timed_bytes();
    }
    std::uint64_t least_timed_bytes() const {
        return std::min(WayTrials::least_bytes, settings_.current().long_bytes());
    }
    /// Adds a timed call that has ended, on this rank with or without an error; `way` is the one it
    /// took. Collective now and then: then the network is measured, and plans are made for what was
    /// learnt. Errors: transport; those of find_tree().
    Status add_timed_call(const LongCall& call, TriedWay way);
    /// Returns the route of a blocking exact allreduce that would go along `route`: that, or the
    /// MPI library's if it is being tried or was faster. Every rank asks for its calls in the same
    /// order.
    Route tried_route(Route route, const CallShape& shape);
    /// Returns what tried_route() would return, as far as it is known; changes nothing.
    Route foreseen_tried_route(Route route, const CallShape& shape) const;
    const WayTrials& trials() const { return trials_; }
    /// Returns whether blocking calls with that key are being tried, or will be.
    bool tries(const CallKey& key, std::uint64_t vector_bytes) const {
        return trials_.tries(vector_bytes) || tries_zips(key, vector_bytes);
    }
    /// Returns whether trials say where exact calls of that length go. Long ones are not tried
    /// until the tree is settled.
    bool may_go_another_way(std::uint64_t vector_bytes) const {
        return trials_.is_on() && vector_bytes >= least_timed_bytes() &&
               (learning_.is_settled() || vector_bytes < settings_.current().tree_min_bytes);
    }
    CallCache& call_cache() { return known_ways_; }
    CommStatistics& statistics() { return statistics_; }
    const CommStatistics& statistics() const { return statistics_; }
    ErrorSampling& error_sampling() { return error_sampling_; }
    /// Returns a tag for messages of this rank to itself on the private communicator. It comes
    /// again after 32768 others, so it is as good as unused.
    int next_self_message_tag() { return static_cast<int>(self_messages_++ % 32768U); }

    /// Takes the proposed settings if CommSettings::agree() accepts them, else changes nothing.
    /// Collective. Errors: those of agree(); a tree that does not fit.
    Status change_settings(const SettingsText& proposed, const Status& complaint);

    /// Returns where a call goes under `settings` (those of the communicator, or of a request).
    /// Counts it if it is compressible, so every rank asks for its calls in the same order, once
    /// for each.
    Route route(const Settings& settings, const CallShape& shape, RouteQuestion question);
    /// Returns the loss parts of the plan of a call whose compressed route is `route`. Pure but for
    /// what it remembers.
    LossParts loss_parts_of(const Settings& settings, const Route& route);
    /// Returns where the next such call would go; counts nothing.
    Route foreseen_route(const CallShape& shape, RouteQuestion question) const;

  private:
    CommContext(CommIdentity identity, std::shared_ptr<const Tuning> tuning);
    /// Returns whether the call is one of those that advance the communicator's step.
    bool advances_step(const Settings& settings, const CallShape& shape,
                       const RouteQuestion& question) const;
    /// Returns why a call that may be compressed, along this route, is exact all the same; none if
    /// it is not.
    ExactReason left_out(const Settings& settings, const Route& route,
                         const RouteQuestion& question);
    ExactReason reason_with_residual(const Settings& settings, const Route& route);
    /// Returns what left_out() compares; nothing if there is nothing to compare.
    std::optional<CodecQuestion> codec_question(const Settings& settings, const Route& route,
                                                const RouteQuestion& question) const;
    Status make_tree();
    void suit_settings();
    void forget_choices();
    void settle_verdicts();
    void begin_learning();
    Status begin_trials();
    bool may_be_tried(const Route& route, const CallShape& shape) const;
    Decision decision_of(const Route& route, Zips zips) const;
    bool is_surely_faster(const Route& route, const CallShape& shape) const;
    Zips other_zips(const Route& route) const;
    /// Returns whether calls of that size were found to be faster by the MPI library.
    bool passes_for_good(std::uint64_t vector_bytes) const {
        return !trials_.tries(vector_bytes) && trials_.next(vector_bytes) == TriedWay::other;
    }
    bool tries_zips(const CallKey& key, std::uint64_t vector_bytes) const {
        return key.zips != Zips::nothing && zip_trials_.tries(vector_bytes) &&
               !passes_for_good(vector_bytes);
    }
    Status add_to_zip_trial(const LongCall& call);
    Status add_to_trial(const LongCall& call, TriedWay way);
    Status add_to_learning(const LongCall& call);
    Status take_measured();
    Status take_tree(std::shared_ptr<const DiscoveredTree> tree);
    Status take_learnt(Tree tree, const std::string& what);
    const CodecUse& codec_use_of(const CodecQuestion& asked);
    void tell_codec_use(const CodecQuestion& question, const CodecUse& use) const;
    void tell_tree(const std::string& what) const;
    void tell_learnt() const;
    Status take_settings(const SettingsText& text, Settings settings);

    // Members that refer to others are declared after them, and so end before them.
    CommIdentity identity_;
    CommStatistics statistics_;
    ErrorSampling error_sampling_;
    CommSettings settings_;
    std::shared_ptr<Verdicts> verdicts_;
    std::shared_ptr<const DiscoveredTree> tree_;
    Status tree_trouble_;  ///< the error of the last prepare_tree()
    CommDevices devices_;
    CommPlans plans_;
    std::vector<std::unique_ptr<Way>> ways_;  ///< in the order in which they are asked
    OneHost& one_host_;
    SeveralHosts& several_hosts_;
    CallCache known_ways_;
    CodecUses codec_uses_;
    bool keeps_plans_ = false;
    bool has_measured_ = false;
    NetworkLearning learning_;
    WayTrials trials_;
    WayTrials zip_trials_;  ///< of calls that go our way: the other way is to pack otherwise
    std::shared_ptr<const DiscoveredTree> tree_before_;  ///< the tree before the one that was
                                                         ///< measured
    std::atomic<std::uint64_t> compressible_calls_{0};
    std::atomic<std::uint32_t> self_messages_{0};
    std::atomic<std::uint64_t> calls_of_schedule_{0};  ///< number of calls since the step was set
};

/// ServedBytes holds the sizes of the smallest vectors that some communicator of this process has
/// ever taken to its tree or its shared memory, or compared across its ranks. Whoever keeps short
/// calls away from the library has to know them.
struct ServedBytes {
    std::uint64_t allreduce = 0;  ///< smallest vector of a blocking allreduce
    std::uint64_t others = 0;
};
/// Returns the smallest sizes so far. Thread safe, as are the next two functions.
ServedBytes least_served_bytes();
/// Notes that calls with vectors of so many bytes and more are served from now on.
void serve_from(const ServedBytes& bytes);
/// Sets the one `listener` of the process, which is called after each fall, by whatever thread.
void when_served_sizes_fall(void (*listener)());

/// Returns the caller's communicator for SelfMessage::Sender; it keeps the context alive.
inline std::shared_ptr<const MPI_Comm> user_comm_of(std::shared_ptr<const CommContext> context) {
    const MPI_Comm* comm = &context->identity().user_comm();
    return {std::move(context), comm};
}

}  // namespace gradcoll
