#include "ways/comm_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "comm/comm_tree.hpp"
#include "comm/unused_codec.hpp"
#include "observe/observe.hpp"
#include "settings/config_dump.hpp"
#include "settings/process_tuning.hpp"
#include "topology/sources/cluster/kept_networks.hpp"
#include "topology/text.hpp"
#include "transport/shm/shm_channel.hpp"

namespace gradcoll {
namespace {

std::atomic<std::uint64_t> least_allreduce_bytes{std::numeric_limits<std::uint64_t>::max()};
std::atomic<std::uint64_t> least_other_bytes{std::numeric_limits<std::uint64_t>::max()};
std::atomic<void (*)()> size_listener{nullptr};
std::atomic<int> contexts{0};

/// Returns the settings that agree() made of the environment, and would make again.
Settings settings_of_process(const ProcessFacts& known) {
    Settings settings = process_settings();
    settings.tuning = known.tuning;
    if (known.loss_in_doubt) settings.stay_exact();
    return settings;
}

/// Lowers `least` to `bytes`. Returns true if it was higher.
bool lower(std::atomic<std::uint64_t>& least, std::uint64_t bytes) {
    std::uint64_t before = least;
    while (bytes < before && !least.compare_exchange_weak(before, bytes)) {
    }
    return bytes < before;
}

int find_world_rank() {
    const int world_rank = comm_rank(MPI_COMM_WORLD);
    set_log_rank(world_rank);
    return world_rank;
}

/// Tells once that GC_NIC asks for agents which no message needs, if all ranks of the job are on
/// one host.
void tell_of_idle_agents(const CommIdentity& identity, const Settings& settings) {
    static std::atomic<bool> is_told{false};
    const int ranks_of_job = comm_size(MPI_COMM_WORLD);
    if (settings.nic.use == NicUse::off || !identity.is_one_host() ||
        identity.rank_count() != ranks_of_job || is_told.exchange(true))
        return;
    log(identity.speaks_for_job() ? LogLevel::warn : LogLevel::debug,
        "GC_NIC: agents carry nothing: all ranks of the job are on one host");
}

void tell_about_process(const CommIdentity& identity, int world_rank) {
    if (identity.speaks_for_job()) warn_about_settings();
    dump_config_once(world_rank);
}

}  // namespace

Result<std::shared_ptr<CommContext>> CommContext::make(MPI_Comm comm, const SettingsWish& wish,
                                                       PrivateComm own) {
    const int world_rank = find_world_rank();
    auto identity = CommIdentity::make(comm, std::move(own));
    if (!identity) return identity.status();
    tell_about_process(*identity, world_rank);
    const bool known = identity->known() != nullptr;
    auto tuning = known ? identity->known()->tuning : tuning_of_rank_0(identity->private_comm());
    if (!tuning) return tuning.status();
    std::shared_ptr<CommContext> context(new CommContext(std::move(identity).value(), *tuning));
    if (known && wish.is_environment) {
        GRADCOLL_TRY(
            context->take_settings(wish.text, settings_of_process(*context->identity_.known())));
    } else {
        GRADCOLL_TRY(context->change_settings(wish.text, wish.complaint));
        if (wish.is_environment)
            context->identity_.remember_agreed(*tuning,
                                               context->settings().current().loss_in_doubt);
    }
    observe_as(context->identity_.private_comm(), comm);
    return context;
}

CommContext::CommContext(CommIdentity identity, std::shared_ptr<const Tuning> tuning)
    : identity_(std::move(identity)),
      statistics_(identity_.private_comm()),
      settings_(identity_.private_comm(), identity_.speaks_for_job(), std::move(tuning)),
      plans_(identity_, &statistics_),
      ways_(make_ways({identity_, settings_, statistics_, plans_})),
      one_host_(static_cast<OneHost&>(way(one_host_way()))),
      several_hosts_(static_cast<SeveralHosts&>(way(hosts_way()))) {
    ++contexts;
}

CommContext::~CommContext() {
    --contexts;
}

Way& CommContext::way(const WayInfo& info) const {
    for (const auto& way : ways_)
        if (&way->info() == &info) return *way;
    return *ways_.back();  // each row has one
}

WayOffers CommContext::offers(const WayQuestion& question) {
    WayOffers offers;
    for (const auto& way : ways_) offers.add(way->info(), way->offers(question));
    return offers;
}

WayOffers CommContext::foreseen_offers(const WayQuestion& question) const {
    WayOffers offers;
    for (const auto& way : ways_) offers.add(way->info(), way->foreseen(question));
    return offers;
}

int CommContext::live_count() {
    return contexts;
}

Status CommContext::prepare_tree() {
    if (has_tree() || !tree_trouble_.ok()) return tree_trouble_;
    tree_trouble_ = make_tree();
    if (tree_trouble_.ok())
        tell_tree(fmt::format("attached communicator '{}' of {} ranks:", identity_.name(),
                              identity_.rank_count()));
    return tree_trouble_;
}

Status CommContext::make_tree() {
    auto tree = find_tree(identity_, settings_.text()[OptionId::topology], settings_.current());
    if (!tree) return tree.status();
    GRADCOLL_TRY(plans_.open_channel(settings_.current()));
    GRADCOLL_TRY(devices_.share(identity_));
    plans_.know_devices(devices_);
    GRADCOLL_TRY(take(error_sampling_, ErrorSampling::make(identity_.private_comm())));
    GRADCOLL_TRY(take_tree(std::move(tree).value()));
    several_hosts_.open();
    begin_learning();
    return {};
}

Status CommContext::take_tree(std::shared_ptr<const DiscoveredTree> tree) {
    tree_ = std::move(tree);
    suit_settings();
    plans_.plan_for(tree_, settings_.current());
    for (const auto& way : ways_) way->know_tree(tree_);
    forget_choices();
    return begin_trials();
}

/// Forgets what was chosen for another tree, or under other settings.
void CommContext::forget_choices() {
    known_ways_.forget();
    codec_uses_.forget();
}

/// Suits the settings to devices and to the tree. On one host they need no tree, as shorter vectors
/// go through memory anyway.
void CommContext::suit_settings() {
    if (devices_.any_in_use()) settings_.suit_devices();
    if (!identity_.is_one_host()) settings_.suit(has_tree() ? &tree_->tree : nullptr);
}

/// Learns only if the tree is left to the library altogether.
void CommContext::begin_learning() {
    learning_.stop();
    if (keeps_plans_) return;
    if (settings_.text()[OptionId::topology] == "auto" && settings_.current().tune == Tune::online)
        learning_.begin(tree_->tree);
}

Status CommContext::add_to_learning(const LongCall& call) {
    using Advice = NetworkLearning::Advice;
    switch (GRADCOLL_VALUE(learning_.add(identity_.private_comm(), call))) {
        case Advice::keep:
            return {};
        case Advice::set_rate:
            return take_learnt(with_links_between_hosts(tree_->tree, learning_.rate_gbytes_per_s()),
                               fmt::format("calls went at {:.3g} GB/s between hosts",
                                           learning_.rate_gbytes_per_s()));
        case Advice::look_again:
            return take_measured();
        case Advice::go_back:
            forget_network(learning_.measured());
            GRADCOLL_TRY(take_tree(std::move(tree_before_)));
            tell_learnt();
            return {};
    }
    return {};
}

/// What was measured counts as if an earlier job had: from then on calls are compared with it.
Status CommContext::measure_network() {
    if (std::exchange(has_measured_, true)) return {};
    if (!GRADCOLL_VALUE(learning_.measure_now(identity_.private_comm()))) return {};
    GRADCOLL_TRY(take_measured());
    begin_learning();
    return {};
}

Status CommContext::keep_plans() {
    if (keeps_plans_) return {};
    GRADCOLL_TRY(measure_network());
    keeps_plans_ = true;
    learning_.stop();
    trials_.stop();
    zip_trials_.stop();
    known_ways_.forget();
    return {};
}

/// Makes the tree anew: its sources now use what was measured between hosts.
Status CommContext::take_measured() {
    keep_network(learning_.measured(), false);
    auto tree = GRADCOLL_VALUE(
        find_tree(identity_, settings_.text()[OptionId::topology], settings_.current()));
    const bool is_another = !are_alike(tree_->tree, tree->tree);
    learning_.took(is_another);
    if (!is_another) return {};
    if (identity_.rank() == 0) keep_network(learning_.measured(), true);
    tree_before_ = std::exchange(tree_, std::move(tree));
    const NetworkLearning::Spent& spent = learning_.spent();
    return take_learnt(tree_->tree, fmt::format("{:.0f} ms in {} slices",
                                                static_cast<double>(spent.ns) / 1e6, spent.slices));
}

/// Takes the tree, and adds to its origin what was learnt.
Status CommContext::take_learnt(Tree tree, const std::string& what) {
    const std::string origin = tree_->origin.substr(0, tree_->origin.find("; "));
    GRADCOLL_TRY(take_tree(std::make_shared<const DiscoveredTree>(
        DiscoveredTree{std::move(tree), fmt::format("{}; {}", origin, what), tree_->notes})));
    tell_learnt();
    return {};
}

/// Tells which codecs a shape that is new leaves out, and why.
void CommContext::tell_codec_use(const CodecQuestion& question, const CodecUse& use) const {
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(question.key.count) * question.key.elem_bytes;
    const auto say = [&](const CodecLeftOut& codec, const char* instead = "stay exact") {
        if (const auto entry = report_entry(identity_.private_comm()))
            entry->report.add_left_out(entry->comm, codec);
        if (identity_.rank() == 0)
            log(LogLevel::info,
                "communicator '{}': {} bytes {}{}: {} would take {:.1f} us, without it {:.1f}",
                identity_.name(), codec.bytes, instead,
                codec.level < 0 ? "" : fmt::format(" at level {}", codec.level), codec.codec,
                codec.compressed_us, codec.exact_us);
    };
    if (use.memory_us > 0 && use.left_out == ExactReason::does_not_pay)
        return say({bytes, -1, std::string(name_of(use.levels.front().codec)), use.compressed_us,
                    use.memory_us});
    for (const CodecVerdict& level : use.levels)
        if (!level.pays())
            say({bytes, level.level, std::string(name_of(level.codec)), level.compressed_us,
                 level.exact_us});
        else if (!level.packing_pays())
            say({bytes, level.level, std::string(name_of(level.codec)), level.packed_us,
                 level.unpacked_us},
                "are not packed");
}

void CommContext::tell_learnt() const {
    tell_tree(fmt::format("communicator '{}' goes on with the tree", identity_.name()));
}

/// Tells the tree in the report, and behind `what` in the log.
void CommContext::tell_tree(const std::string& what) const {
    const std::string tree = expression_of(tree_->tree);
    if (const auto entry = report_entry(identity_.private_comm()))
        entry->report.set_tree(entry->comm, tree, tree_->origin);
    log(LogLevel::info, "{} {} ({})", what, tree, tree_->origin);
}

Status CommContext::change_settings(const SettingsText& proposed, const Status& complaint) {
    auto agreed = settings_.agree(proposed, complaint);
    if (!agreed) return agreed.status();
    return take_settings(proposed, std::move(agreed).value());
}

Status CommContext::take_settings(const SettingsText& proposed, Settings settings) {
    if (has_tree() && proposed[OptionId::topology] != settings_.text()[OptionId::topology])
        GRADCOLL_TRY(take(tree_, find_tree(identity_, proposed[OptionId::topology], settings)));
    settings_.take(proposed, std::move(settings));
    expect_codec(settings_.current());
    settle_verdicts();
    tell_of_idle_agents(identity_, settings_.current());
    suit_settings();
    if (has_tree()) plans_.plan_for(tree_, settings_.current());
    tree_trouble_ = {};
    for (const auto& way : ways_) way->settings_changed(tree_);
    if (has_tree()) {
        several_hosts_.open();
        begin_learning();
        GRADCOLL_TRY(begin_trials());
    }
    forget_choices();
    const bool all = settings_.checks_calls() || settings_.current().anywhere;
    const std::uint64_t tree = all ? 0 : settings_.current().least_tree_bytes();
    const bool memory = one_host_.may_open() || several_hosts_.may_open();
    serve_from({memory ? 0 : tree, tree});
    return {};
}

/// Makes verdicts on sums, or no more of them, as the settings say.
void CommContext::settle_verdicts() {
    const Settings& settings = settings_.current();
    if (settings.fault != Fault::survive || identity_.rank_count() == 1)
        verdicts_.reset();
    else if (verdicts_ == nullptr)
        verdicts_ = Verdicts::make(
            identity_, settings.shm_bytes > 0 && settings.transports.allows(shm_transport_name));
}

/// Returns false for calls of a request, which has settings and steps of its own.
bool CommContext::advances_step(const Settings& settings, const CallShape& shape,
                                const RouteQuestion& question) const {
    return settings.calls_per_step > 0 && &settings == &settings_.current() &&
           first_compressible_step(settings, shape, question).has_value();
}

Route CommContext::route(const Settings& settings, const CallShape& shape, RouteQuestion question) {
    question.comm_may_be_lossy = settings.compress_comms.allows(identity_.name());
    question.may_zip = !learning_.is_timing();
    if (advances_step(settings, shape, question))
        question.step += static_cast<std::int64_t>(calls_of_schedule_++ / settings.calls_per_step);
    if (is_compressible(settings, shape, question)) question.call = compressible_calls_++;
    const Route route = route_unless_left_out(
        settings, shape, question,
        [&](const Route& compressed) { return left_out(settings, compressed, question); });
    const bool looks_closer = question.feedback && awaits_codec(settings);
    note_codec_of(identity_, settings, shape,
                  looks_closer ? reason_with_residual(settings, route) : route.exact_reason);
    return route;
}

/// Returns why a call with a residual is exact. It keeps its layout and goes over the tree whatever
/// pays; but there, too, only the exchanges are compressed that are faster for it.
ExactReason CommContext::reason_with_residual(const Settings& settings, const Route& route) {
    if (route.exact_reason != ExactReason::none || !has_tree()) return route.exact_reason;
    CallKey key = route.key;
    key.in_place = false;  // ranks may differ in it
    const CodecQuestion asked{tree_->tree, settings, key};
    return &settings == &settings_.current() ? codec_use_of(asked).left_out
                                             : codec_use(asked).left_out;
}

/// Returns nothing for a call with a residual.
std::optional<CodecQuestion> CommContext::codec_question(const Settings& settings,
                                                         const Route& route,
                                                         const RouteQuestion& question) const {
    if (question.feedback) return {};
    CallKey key = route.key;
    key.in_place = false;  // ranks may differ in it
    if (route.goes(hosts_way())) {
        const BetweenHosts* const between = several_hosts_.between();
        return between != nullptr
                   ? std::optional(CodecQuestion{between->tree->tree, between->settings, key})
                   : std::nullopt;
    }
    if (!has_tree()) return {};
    return CodecQuestion{tree_->tree, settings, key,
                         question.offers.of(one_host_way()).exact ? identity_.rank_count() : 0};
}

ExactReason CommContext::left_out(const Settings& settings, const Route& route,
                                  const RouteQuestion& question) {
    const auto asked = codec_question(settings, route, question);
    if (!asked) return ExactReason::none;
    // A request has settings of its own.
    if (&settings != &settings_.current()) return codec_use(*asked).left_out;
    return codec_use_of(*asked).left_out;
}

/// Returns the answer under the settings of the communicator, and remembers it.
const CodecUse& CommContext::codec_use_of(const CodecQuestion& asked) {
    if (const CodecUse* known = codec_uses_.find(asked.key)) return *known;
    const CodecUse& use = codec_uses_.add(asked.key, codec_use(asked));
    tell_codec_use(asked, use);
    return use;
}

LossParts CommContext::loss_parts_of(const Settings& settings, const Route& route) {
    const auto asked = codec_question(settings, route, route.question);
    if (!asked) return {};
    return &settings == &settings_.current() ? codec_use_of(*asked).loss_parts
                                             : codec_use(*asked).loss_parts;
}

Route CommContext::foreseen_route(const CallShape& shape, RouteQuestion question) const {
    const Settings& settings = settings_.current();
    question.comm_may_be_lossy = settings.compress_comms.allows(identity_.name());
    question.may_zip = !learning_.is_timing();
    if (advances_step(settings, shape, question))
        question.step += static_cast<std::int64_t>(calls_of_schedule_ / settings.calls_per_step);
    question.call = compressible_calls_;
    return route_unless_left_out(settings, shape, question, [&](const Route& route) {
        const auto asked = codec_question(settings, route, question);
        return asked ? codec_use(*asked).left_out : ExactReason::none;
    });
}

void serve_from(const ServedBytes& bytes) {
    const bool allreduce_fell = lower(least_allreduce_bytes, bytes.allreduce);
    const bool others_fell = lower(least_other_bytes, bytes.others);
    if (!allreduce_fell && !others_fell) return;
    if (void (*const tell)() = size_listener) tell();
}

ServedBytes least_served_bytes() {
    return {least_allreduce_bytes, least_other_bytes};
}

void when_served_sizes_fall(void (*called)()) {
    size_listener = called;
}

}  // namespace gradcoll
